"""Names of people: given names, surnames, and the syllables that make surnames nobody has seen.

A tenth of the surnames are also something else (a city, a month, a publisher, a word that a citation uses):
that is what makes telling an author from a place or a title a matter of the whole citation.
"""

from __future__ import annotations

from conseq.datasets.words import words

GIVEN = words(
    """
    Ada Adaeze Agnes Ahmed Aiko Aisha Alan Albert Alejandra Alice Amara Amina Amir Anastasia Andrea Andrei
    Anika Anna April Aroha Arthur Asha Astrid August Aurora Beatriz Benjamin Bjarne Bogdan Boris Brigid
    Bruno Camille Carlos Carmen Catherine Cecilia Chandra Charlotte Chelsea Chidi Chiara Christopher Claire
    Clara Daniel David Deborah Diego Dmitri Dolores Edith Edward Eleanor Elena Elif Elijah Elizabeth Emil
    Emma Enrico Erik Esther Eugene Farah Fatima Felix Fiona Florence Francis Freya Gabriel Georgia Gita
    Giulia Grace Gustav Hana Hannah Haruki Hassan Helen Henrik Hideo Hugo Ibrahim Ida Ines Ingrid Irena
    Isaac Isabel Ivan Jacob James Jana Javier Jean Jin Joan Johan John Joseph Juan Julia June Kaito Karim
    Katarina Keiko Kofi Kwame Lars Laura Leila Leo Li Lina Louis Lucia Luis Magnus Mai Manuel Marcus Maria
    Mark Marta Martin Mary Mei Michael Mikhail Milan Mira Mohammed Monica Nadia Naomi Nikolai Nina Noor Olga
    Oliver Olumide Oscar Pablo Paris Patricia Paul Pedro Peter Petra Pierre Priya Rachel Rafael Rajesh Ravi
    Rebecca Robert Rosa Ruth Salma Samuel Sara Sebastian Seo-yeon Sergei Shira Silvia Simon Siobhan Sofia
    Stefan Sunil Susan Sven Sydney Tamar Tariq Tatiana Teresa Thomas Tomasz Ulrike Ursula Uwe Valentina Vera
    Victor Viktor Virginia Wei William Winston Xiu Yael Yasmin Yuki Yusuf Zainab Zeynep Zofia
    """
)

SURNAMES = words(
    """
    Abara Abbott Abdullah Achterberg Adeyemi Agarwal Aguilar Ahlgren Akhtar Almeida Alvarez Andersson
    Andrade Antonov Aoki Araujo Arslan Asante Ashdown Atkins Avraham Baggio Bailey Balogun Banerjee Barbosa
    Barnes Bauer Becker Bell Bennett Bergström Bianchi Bielak Birch Blackwood Bogart Bondarenko Borges Bosch
    Botha Bouchard Brennan Brown Calloway Campbell Cardoso Carter Castillo Chakraborty Chandra Chang
    Chaudhry Chen Cheng Chevalier Cho Choi Clarke Coleman Conti Costa Crowley Cruz Czerny Dahl Danso Das
    Delacroix Demir Desai Diaz Dimitrov Dlamini Doyle Dubois Duarte Dupont Edwards Eklund El-Amin Endo
    Eriksen Evans Farouk Fernandes Ferrari Figueroa Finch Fischer Fitzgerald Flores Fonseca Forster Fournier
    Friedman Fujita Gallagher García Garrido Gauthier Georgiou Ghosh Gibson Goldberg Gonzalez Gruber Guo
    Gupta Haddad Hakimi Halvorsen Hamid Hansen Harper Hartley Hashimoto Haugen Hayashi Herrera Hoang
    Hoffmann Holm Horvat Hosseini Huang Hughes Hussein Ibáñez Igwe Ikeda Iqbal Ivanova Jansen Jain Jensen
    Johansson Jones Joshi Kaczmarek Kamau Kapoor Karlsson Kaufmann Kaya Keller Khan Kim Kimura Klein
    Kobayashi Koh Kovács Kowalski Krause Kruger Kumar Kuznetsov Lam Larsen Laurent Lee Lehtinen Leroy Levi
    Liang Lindqvist Liu Lombardi Lopez Lund MacLeod Mahmoud Malik Marchetti Marlowe Martinez Matsuda Mbeki
    McCarthy McKenna Mehta Mendes Meyer Mishra Mohan Molina Moreau Moreno Morgan Moriarty Müller Murphy
    Mwangi Nakamura Naidoo Nasser Navarro Nguyen Nielsen Nkosi Novak Nowak Nwosu O'Brien O'Connor Oduya
    Okafor Okonjo Olsen Ortega Osei Ozturk Papadakis Park Patel Pereira Petersen Petrov Pham Popescu Quirke
    Quispe Rahman Ramirez Rao Reyes Ricci Rodriguez Romano Rosen Rossi Rousseau Russo Saito Salazar Santos
    Sato Schäfer Schmidt Schneider Schwartz Serrano Shapiro Sharma Shimizu Silva Singh Smirnov Smith Sokolov
    Song Sørensen Soto Stein Suzuki Svensson Szabó Tamm Tanaka Tang Taylor Thapa Thompson Torres Tremblay
    Tran Tsai Usman Vargas Vasquez Virtanen Vogel Volkov Wagner Walker Wang Watanabe Weber Weiss Whitaker
    Williams Wilson Wong Wu Yamamoto Yang Yilmaz Young Zamora Zhang Zhao Zhou Zimmermann
    """
)

DOUBLE_MEANING = words(
    """
    London Lincoln York Lyon Berlin Houston Austin Durham Lancaster Bristol Holland Washington Paris Milan
    March May June August Winter Summer Friday Page Press Field Law English Price Best Short Long Bishop
    King Rivers Wood Stone Book Read Chapman Marsh Hall Story Word Bell House Bridges Penn Temple
    """
)

PARTICLES = ("van", "van der", "van den", "von", "de", "de la", "del", "di", "da", "el", "ter", "le")
SUFFIXES = ("Jr.", "Jr.", "Sr.", "II", "III")

SYLLABLE_STARTS = words(
    """
    Ba Be Bo Bra Bro Ca Che Da De Dra Du Fa Fe Fla Ga Ge Gri Ha He Hu I Ja Ji Ka Ke Kla Ko Kra La Le Lo Lu
    Ma Me Mi Mo Na Ne No O Pa Pe Po Pra Ra Re Ro Ru Sa Se Sha Ska So Sta Su Ta Te Ti To Tra U Va Ve Vo Wa We
    Za Zu
    """
)
SYLLABLE_MIDDLES = words(
    "ba da de di ga la le li lo ma me mi na ne ni no ra re ri ro sa se shi ta te ti va ve vi"
)
SYLLABLE_ENDS = words(
    """
    beck berg bert call dal dell din dorf dosa field ford gard gren hart kar ker kin kov lan land ler ley
    lin low man mann mar mont mura nen ner ni nov po quist ra ren ric ros sen shaw ski son stad stein tan
    ter ton tov var vic ville wick witz wood yan zar
    """
)
