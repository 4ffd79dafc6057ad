"""Words of American streets, boxes, apartments and the people and shops that live there."""

from __future__ import annotations

from conseq.datasets.words import phrases, words

STREET_TYPES = tuple(
    tuple(entry.split("/"))
    for entry in words(
        """
        Street/St/St. Street/St/St. Street/St/St. Avenue/Ave/Ave. Avenue/Ave/Ave. Avenue/Ave/Av Road/Rd/Rd.
        Road/Rd/Rd. Drive/Dr/Dr. Drive/Dr/Dr. Lane/Ln/Ln. Boulevard/Blvd/Blvd. Court/Ct/Ct. Place/Pl/Pl.
        Way/Way/Wy Circle/Cir/Cir. Terrace/Ter/Terr. Trail/Trl/Tr Parkway/Pkwy/Pkwy. Highway/Hwy/Hwy.
        Square/Sq/Sq. Plaza/Plz/Plaza Loop/Loop/Lp Alley/Aly/Alley Crossing/Xing/Crossing Run/Run/Run
        Pike/Pike/Pike
        """
    )
)
"""(full, short, pointed) forms of what ends a street's name; common ones stand here more than once."""

STREET_NAMES = phrases(
    """
    Main; Main; Main; Church; State; High; Elm; Maple; Oak; Park; Washington; Lincoln; Jefferson; Madison
    Jackson; Lake; Hill; Walnut; Spring; North; South; Ridge; Court; Center; Union; Mill; River; Water
    School; Broad; Market; Virginia; Texas; California; Georgia; Delaware; Carolina; Indiana; Ohio; New York
    Michigan; Pennsylvania; Kansas City; St. Louis; St. Charles; Saint Paul; Denver; Dallas; Houston
    Memphis; Columbus; Cleveland; Santa Fe; El Camino Real; Las Palmas; Lake Shore; Park Place; Court House
    Old Mill; Old Post; Mount Pleasant; Martin Luther King Jr.; John F. Kennedy; Rosa Parks; Cesar Chavez
    Harriet Tubman; Sunset; Hillside; Riverside; Prospect; Cherry; Dogwood; Magnolia; Sycamore; Chestnut
    Poplar; Cedar; Peachtree; Meadow; Orchard; Forest; Valley; Railroad; Depot; Bridge; Canal; Harbor; Beach
    Ocean; College; University; Liberty; Commerce; Industrial; Franklin; Grant; Sherman; Monroe; Adams
    Harrison; Clark; Lewis; Warren; Clay; Drive-In; Lane; Alice; Charlotte; Elizabeth; Helena; Florence
    Kennel Club; Goose Chase; Whippoorwill; Lost Shoe; Possum Trot; Blue Heron; Second Breakfast; Left Turn
    Honeybee; Quail Run; Turkey Trot; Fiddlers Green
    """
)

BARE_STREETS = phrases(
    "Broadway; The Esplanade; The Embarcadero; Bowery; Park Row; Kings Crossing; Boardwalk; La Rambla"
)
"""Streets that take no type."""

DIRECTIONS = (
    ("N", "N.", "North"),
    ("S", "S.", "South"),
    ("E", "E.", "East"),
    ("W", "W.", "West"),
    ("NE", "N.E.", "Northeast"),
    ("NW", "N.W.", "Northwest"),
    ("SE", "S.E.", "Southeast"),
    ("SW", "S.W.", "Southwest"),
)

HIGHWAYS = phrases(
    """
    Highway; Hwy; US Highway; US Hwy; State Route; State Highway; Route; Rte; County Road; Co Rd; CR; FM
    Interstate; State Road; SR; Farm Road
    """
)
LETTERED = phrases("Avenue; Ave; Road; County Road; Route")
"""Types that stand before a letter: Avenue B, Route Z."""

OCCUPANCIES = phrases(
    """
    Apt; Apt; Apt.; Apartment; Suite; Suite; Ste; Ste.; Unit; Unit; #; #; Room; Rm; Floor; Fl; Lot; Bldg
    Building; Trailer; Dept; Office; Space
    """
)

BOXES = phrases("PO Box; PO Box; P.O. Box; P.O. Box; P O Box; POB; Post Office Box; Box; Drawer")
ROUTES = phrases("RR; Rural Route; R.R.; HC; Route; RFD; Star Route")

SHOP_OWNERS = words(
    """
    Acme Apex Atlas Blue Capitol Carolina Central Citizens Coastal Crescent Dallas Delta Eagle Evergreen
    First Frontier Georgia Golden Harbor Heritage Highland Houston Lakeside Liberty Lincoln Magnolia Main
    Maple Metro Midwest Northside Orange Pacific Park Pioneer Prairie Riverside Royal Saint Springfield
    Sunrise Texas Tri-State Twin Union Valley Virginia Washington Westside
    """
)
SHOP_TRADES = phrases(
    """
    Auto Parts; Bakery; Bank; Barber Shop; Bowling; Brewing; Books; Cafe; Carpets; Chapel; Chiropractic
    Cleaners; Credit Union; Dairy; Dental; Diner; Donuts; Electric; Farm Supply; Feed & Seed; Florist
    Furniture; Garage; Hardware; Heating & Air; Insurance; Jewelers; Landscaping; Library; Lumber; Marina
    Motel; Museum; Music; Oil; Optical; Pawn; Pest Control; Pet Hospital; Pharmacy; Pizza; Plumbing
    Printing; Realty; Road Service; Roofing; School; Street Wear; Storage; Taxidermy; Tire; Towing; Travel
    Yarn
    """
)
SHOP_ENDS = ("", "", "", "", "Inc", "Inc.", "LLC", "Co", "Co.", "& Sons", "Corp", "of America")
SHOPS = phrases(
    """
    Route 66 Motel; Studio 54 Tattoo; 7 Seas Diner; 24 Hour Laundry; 5th Avenue Deli; Two Brothers Pizza
    Avenue Q Books; Church Street Cafe; Lake Charles Outfitters; Box 8 Theatre; Suite Dreams Bedding
    Lot 49 Antiques; St. Mary Parish Hall; St. Paul Lutheran Church; Saint Bernard Kennels
    The Kansas City Star Diner; Unit One Gym; Dr. Watson Veterinary; Court Street Bail Bonds
    Attn: Accounts Payable; Office of the Registrar
    """
)
HONORIFICS = ("", "", "", "", "", "Mr.", "Mrs.", "Ms.", "Dr.", "Attn:", "c/o")
