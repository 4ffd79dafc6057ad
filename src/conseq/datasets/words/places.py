"""Places: the world's cities for bibliographies; American towns, states and zip regions for addresses."""

from __future__ import annotations

from conseq.datasets.words import phrases, words

REGIONS = dict(
    entry.split(", ")
    for entry in phrases(
        """
        Accra, Ghana; Amsterdam, Netherlands; Ankara, Turkey; Athens, Greece; Auckland, New Zealand
        Austin, TX; Bangalore, India; Barcelona, Spain; Basel, Switzerland; Beijing, China; Belgrade, Serbia
        Bergen, Norway; Berkeley, CA; Berlin, Germany; Bogotá, Colombia; Bologna, Italy; Boston, MA
        Bratislava, Slovakia; Bremen, Germany; Bristol, UK; Brussels, Belgium; Bucharest, Romania
        Budapest, Hungary; Buenos Aires, Argentina; Cairo, Egypt; Cambridge, MA; Cape Town, South Africa
        Chicago, IL; Copenhagen, Denmark; Cork, Ireland; Delhi, India; Dordrecht, The Netherlands
        Dublin, Ireland; Durham, NC; Edinburgh, Scotland; Florence, Italy; Geneva, Switzerland; Glasgow, UK
        Göttingen, Germany; Hamburg, Germany; Heidelberg, Germany; Helsinki, Finland; Hong Kong, China
        Houston, Texas; Ibadan, Nigeria; Istanbul, Turkey; Jakarta, Indonesia; Jerusalem, Israel
        Kraków, Poland; Kyoto, Japan; Lagos, Nigeria; Lancaster, UK; Leiden, The Netherlands; Lima, Peru
        Lincoln, Nebraska; Lisbon, Portugal; Ljubljana, Slovenia; London, UK; Lyon, France; Madrid, Spain
        Manchester, UK; Melbourne, Australia; Mexico City, Mexico; Milan, Italy; Montreal, Canada
        Mumbai, India; Munich, Germany; Nairobi, Kenya; New York, NY; Osaka, Japan; Oslo, Norway
        Oxford, England; Paris, France; Porto, Portugal; Prague, Czech Republic; Princeton, NJ
        Reykjavik, Iceland; Riga, Latvia; Rome, Italy; San Diego, California; Santiago, Chile; Seattle, WA
        Seoul, Korea; Singapore, Republic of Singapore; Sofia, Bulgaria; Stockholm, Sweden
        Sydney, Australia; Tallinn, Estonia; Tbilisi, Georgia; Tokyo, Japan; Toronto, Ontario; Turin, Italy
        Uppsala, Sweden; Valencia, Spain; Vancouver, BC; Vienna, Austria; Vilnius, Lithuania; Warsaw, Poland
        Wellington, New Zealand; York, England; Zagreb, Croatia; Zurich, Switzerland
        """
    )
)
"""The country, state or province of each city."""
CITIES = tuple(REGIONS)

INVENTED_STARTS = words(
    "Al Bel Cor Dun El Fal Gal Hal Is Kal Lor Mar Nor Or Pel Quel Ros Sel Tor Ul Val Wen Yar Zel"
)
INVENTED_ENDS = words(
    "ania avia bourne burgh dor eth ica ingen land mark mora ona ovia stan stead ula umbra wich"
)

STATES = tuple(
    (short, name, digit)
    for short, digit, name in (
        entry.split(" ", 2)
        for entry in phrases(
            """
            AL 3 Alabama; AK 9 Alaska; AZ 8 Arizona; AR 7 Arkansas; CA 9 California; CO 8 Colorado
            CT 0 Connecticut; DE 1 Delaware; DC 2 District of Columbia; FL 3 Florida; GA 3 Georgia
            HI 9 Hawaii; ID 8 Idaho; IL 6 Illinois; IN 4 Indiana; IA 5 Iowa; KS 6 Kansas; KY 4 Kentucky
            LA 7 Louisiana; ME 0 Maine; MD 2 Maryland; MA 0 Massachusetts; MI 4 Michigan; MN 5 Minnesota
            MS 3 Mississippi; MO 6 Missouri; MT 5 Montana; NE 6 Nebraska; NV 8 Nevada; NH 0 New Hampshire
            NJ 0 New Jersey; NM 8 New Mexico; NY 1 New York; NC 2 North Carolina; ND 5 North Dakota
            OH 4 Ohio; OK 7 Oklahoma; OR 9 Oregon; PA 1 Pennsylvania; RI 0 Rhode Island; SC 2 South Carolina
            SD 5 South Dakota; TN 3 Tennessee; TX 7 Texas; UT 8 Utah; VT 0 Vermont; VA 2 Virginia
            WA 9 Washington; WV 2 West Virginia; WI 5 Wisconsin; WY 8 Wyoming
            """
        )
    )
)
"""(abbreviation, name, first digit of its zip codes) of each state."""

TOWNS = tuple(
    (name, state)
    for name, _, state in (
        entry.rpartition(" ")
        for entry in phrases(
            """
            Springfield IL; Columbia SC; Washington DC; Kansas City MO; St. Louis MO; Jackson MS
            Portland OR; Lincoln NE; Austin TX; Houston TX; Dallas TX; New York NY; Charlotte NC; Madison WI
            Salem OR; Orange CA; Nevada MO; Indiana PA; Virginia Beach VA; St. Paul MN; Salt Lake City UT
            Los Angeles CA; Lake Charles LA; Park City UT; Phoenix AZ; Denver CO; Richmond VA
            Jefferson City MO; Bowling Green KY; Troy NY; Union NJ; Albany NY; Amherst MA; Anchorage AK
            Athens GA; Auburn AL; Augusta ME; Avenue MD; Bath ME; Baton Rouge LA; Beverly Hills CA; Boise ID
            Boulder CO; Bristol CT; Buffalo NY; Burlington VT; Cambridge MA; Carson City NV; Cedar Rapids IA
            Chattanooga TN; Cheyenne WY; Clayton MO; Cleveland OH; Clinton MS; Columbus OH; Concord NH
            Corpus Christi TX; Cape May Court House NJ; Dayton OH; Decatur GA; Des Moines IA; Dover DE
            Durham NC; East Orange NJ; El Paso TX; Elizabeth NJ; Eugene OR; Fairfield CT; Fargo ND
            Flagstaff AZ; Florence AL; Fort Wayne IN; Franklin TN; Fresno CA; Georgetown TX; Grand Rapids MI
            Greenville SC; Harrisburg PA; Hartford CT; Helena MT; Irving TX; Juneau AK; Knoxville TN
            Lafayette LA; Lake Forest IL; Lancaster PA; Lansing MI; Las Vegas NV; Lawrence KS; Lexington KY
            Little Rock AR; Logan UT; Marion OH; Mary Esther FL; Memphis TN; Mesa AZ; Milton VT; Mobile AL
            Montgomery AL; Mount Vernon NY; Nashville TN; New Haven CT; Newport RI; North Platte NE
            Oak Park IL; Ogden UT; Orlando FL; Oxford MS; Palm Springs CA; Pasadena CA; Paterson NJ
            Pierre SD; Plano TX; Provo UT; Raleigh NC; Reno NV; Riverside CA; Rochester MN; Rock Hill SC
            San Antonio TX; San Jose CA; Santa Fe NM; Savannah GA; Sioux Falls SD; South Bend IN; Spokane WA
            St. Augustine FL; St. Cloud MN; St. Joseph MO; Tacoma WA; Topeka KS; Tucson AZ; Tulsa OK
            Vernon CT; Waco TX; Walla Walla WA; Warren MI; West Point NY; Wichita KS; Wilmington DE
            Winchester VA; Worcester MA; York PA
            """
        )
    )
)
"""(town, abbreviation of its state)."""

TOWN_STARTS = words(
    """
    Ash Beaver Birch Black Bridge Brook Cedar Clear Cold Copper Cotton Deer Eagle East Elk Elm Fair Falcon
    Fern Fox Gold Grand Green Hazel Hickory High Honey Iron Juniper Kings Lake Maple Mill Moss North Oak
    Otter Owl Pine Plum Raven Red Rock Rose Sand Silver Stone Sugar Swan Thorn Turkey West White Wild Willow
    Wolf
    """
)
TOWN_TAILS = words(
    "boro bridge brook bury dale field ford gate haven hurst mont port ridge side ton town view ville wood"
)
TOWN_WORDS = words(
    "City Creek Falls Grove Harbor Heights Hills Hollow Junction Lake Park Point Springs Valley Station"
)
TOWN_LEADS = words("Fort Lake Mount New North Old Port San Santa South Saint St. West Glen Royal")
