"""How titles are phrased.  Slots in braces are filled by `bibliography.titles`.

{heads} plural nouns of one subject, {mods} the same with an adjective, {others} nouns of any subject,
{quality} an abstract noun, {doing} a gerund, {place} an invented one, {span} two years, {person} a full name;
{method}, {field}, {group}, {city}, {year}, {surname} and {count} are what they say.
"""

from __future__ import annotations

from conseq.datasets.words import phrases, words

PLAIN_TITLES = phrases(
    """
    {mods}; {mods} and {mods}; {mods} for {heads}; {heads} and {others}; {mods} in {place}
    {mods} by {method}; on the {quality} of {mods}; on {mods} and {heads}; the {quality} of {mods}
    towards a theory of {mods}; {doing} {mods} with {method}; {doing} {heads} and {heads}; {doing} {mods}
    {method} for {mods}; a note on {mods}; an introduction to {field}; a survey of {mods}
    foundations of {field}; {field} and {heads}; {method} and the {quality} of {heads}
    {mods} under uncertainty; an approach to {heads} based on {method}; {surname} {heads}
    {mods} and the {surname} conjecture; {surname}'s theory of {heads}; the {surname} effect in {heads}
    how {group} think about {heads}; what {heads} tell us about {others}; {heads} without {others}
    {count} lectures on {field}; {count} problems in {field}; a short history of {heads}; {heads} of {city}
    {heads} in {city}, {span}; the {quality} of {heads} in {place}; {mods} after {year}
    {field} since {year}; in defence of {mods}; in search of {mods}; in praise of {mods}
    is there a {quality} of {heads}?; fast {method}; {method}, revisited; {mods}, {others} and {heads}
    a {quality} theorem for {mods}
    """
)

LONG_TITLES = phrases(
    """
    {mods}: a case study of {place}; {mods}: evidence from {place}; {heads}: the {quality} of {mods}
    {mods} and the {quality} of {heads}: the case of {city}, {span}
    from {heads} to {others}: {doing} {mods}; from {city} to {city}: {mods} in {span}
    {doing} {heads} in {place}: {method} versus {method}; the {quality} and {quality} of {mods}
    {mods}, or the {quality} of {others}; {heads} and {group}: a comparison
    {person} and the {quality} of {heads}; the letters of {person}, {span}; {person}: a life among {heads}
    {doing} {mods}, part II: {method}; are {mods} {quality}-free? a reply to {surname} and {surname}
    a journal of {heads}: {city}, {year}; notes on the {quality} of {mods} (with remarks on {others})
    volume and weight of {mods}; the press, the pulpit and {heads}
    proceedings against {heads} in {place}, {span}
    {method} as a tool for {doing} {mods} in {city} and {place}; {mods} among {group} and {group}: a survey
    department of {heads}: {doing} {field} in {city}
    {quality}, {quality} and {heads} in the work of {person}
    """
)

WITTY_TITLES = phrases(
    """
    {heads} considered harmful; {heads} considered harmless: a reply to {surname}
    do {heads} dream of {others}?; what to expect when you are {doing} {heads}
    everything you never wanted to know about {heads}; how we learned to stop worrying and love {mods}
    {count} {heads} and a funeral; who is afraid of {mods}?; one hundred years of {heads}
    the unbearable lightness of {heads}; {heads} all the way down
    all {heads} are equal, but some {heads} are more equal than others
    there and back again: {doing} {others}; {heads} in the mist; waiting for {heads}
    three {heads} in a boat; the importance of being {surname}; on the unreasonable effectiveness of {heads}
    why your {heads} are late; {mods} and how to survive them; a hitchhiker's guide to {field}
    {heads}: an apology; {surname} was wrong about {heads}; ask not for whom the {heads} wait
    much ado about {heads}; the man who mistook his {heads} for {others}; {others} and {heads}: a love story
    the {heads} that could not be sorted; no {heads} were harmed: {doing} {mods}; a tale of two {heads}
    the night we lost the {heads}; {doing} {heads} for fun and profit; some of my best friends are {heads}
    {group} who stare at {heads}; we found nothing: {mods} in {place}; a modest proposal for {doing} {heads}
    """
)

BOOK_TITLES = phrases(
    """
    {field}; {field}: an introduction; introduction to {field}; principles of {field}
    foundations of {field}; the {quality} of {heads}; the {quality} of {mods}; a history of {heads}
    a short history of {heads}; {mods}; the {quality} of {heads}, {span}; {heads} and {others}
    {heads} of {place}; the age of {heads}; {field} for {group}; the book of {heads}; letters from {city}
    the {heads} of {city} and other stories; {doing} {heads}: a handbook; {doing} {mods}
    a life among {heads}; the {city} {heads}; {person}: a life; {year}; {person} and the {heads}
    """
)

QUALITIES = phrases(
    """
    complexity; beauty; stability; decline; rise; geometry; secret life; limits; economics; ethics; taxonomy
    origins; anatomy; dynamics; semantics; persistence; collapse; structure; poetics; politics; future; fate
    measurement; discovery; invention; conservation; memory; convergence; diversity; grammar; mechanics
    rediscovery; language; solitude; mathematics; long shadow; sociology; quiet triumph; temporality
    robustness; press coverage
    """
)
DOINGS = phrases(
    """
    counting; modelling; predicting; learning; avoiding; estimating; teaching; sorting; classifying
    rethinking; measuring; understanding; reading; mapping; visualising; debugging; preserving; translating
    tracking; taming; editing; regulating; optimising; parsing; dating; labelling; simulating; verifying
    explaining; listening to
    """
)
GROUPS = phrases(
    """
    children; engineers; librarians; farmers; nurses; editors; philosophers; students; sailors
    bilingual adults; physicists; cooks; astronauts; novices; teenagers; economists; authors; publishers
    gardeners; civil servants
    """
)
COUNTS = ("two", "three", "four", "five", "six", "seven", "nine", "ten", "a dozen", "99", "101", "1001")
PREFIXES = (
    "quasi-",
    "post-",
    "neo-",
    "anti-",
    "hyper-",
    "meta-",
    "pseudo-",
    "proto-",
    "non-",
    "multi-",
    "semi-",
)
SMALL_WORDS = frozenset(
    words("a an and are as at by but for from in is its of on or that the to under versus with without")
)
"""Words that stay small where the others are capitalised."""
