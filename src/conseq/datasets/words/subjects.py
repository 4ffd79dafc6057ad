"""Fields of study: what each is called, what it writes about and how; titles and venues draw from these.

`heads` are plural nouns, `modifiers` adjectives that go with most of them, `methods` need no article.
"""

from __future__ import annotations

from dataclasses import dataclass

from conseq.datasets.words import phrases


@dataclass(frozen=True)
class Subject:
    """One field of study as word lists."""

    fields: tuple[str, ...]
    modifiers: tuple[str, ...]
    heads: tuple[str, ...]
    methods: tuple[str, ...]


def _subject(fields: str, modifiers: str, heads: str, methods: str) -> Subject:
    return Subject(phrases(fields), phrases(modifiers), phrases(heads), phrases(methods))


SUBJECTS = (
    _subject(
        "computer science; software engineering; distributed systems; database theory; programming languages",
        """lazy; concurrent; fault-tolerant; incremental; type-safe; distributed; self-healing; greedy
        lock-free; versioned; memory-bound; Byzantine; parallel; undocumented; legacy; eventually consistent
        real-time""",
        """compilers; caches; schedulers; garbage collectors; hash tables; query planners; file systems
        protocols; sorting networks; debuggers; type checkers; spreadsheets; build systems; indexes
        virtual machines; deadlocks; race conditions; bug reports; passwords; transactions; pages; workflows
        regular expressions; log files""",
        """dynamic programming; model checking; partial evaluation; branch and bound; speculative execution
        rubber-duck debugging; two-phase commit; memoisation; static analysis""",
    ),
    _subject(
        """machine learning; neural computation; artificial intelligence; robotics; computer vision
        pattern recognition""",
        """deep; sparse; Bayesian; overfitted; recurrent; weakly supervised; kernelised; contrastive; latent
        robust; overconfident; hierarchical; structured; random; convolutional; few-shot; unregularised""",
        """classifiers; random fields; embeddings; robots; decision trees; grippers; perceptrons
        reward functions; image segments; label sequences; benchmarks; support vectors; hidden states
        leaderboards; learning curves; neural networks; gradients; feature templates; face detectors
        autonomous vacuum cleaners; word vectors""",
        """dual decomposition; belief propagation; gradient descent; boosting; active learning
        transfer learning; constrained decoding; self-training; dropout; wishful thinking
        conditional random fields""",
    ),
    _subject(
        """linguistics; computational linguistics; phonology; historical linguistics
        language acquisition; semantics""",
        """unaccusative; tonal; ergative; endangered; bilingual; spoken; inflected; polysynthetic
        agglutinative; discourse-initial; ambiguous; clitic; whispered; untranslatable; creole
        garden-path""",
        """vowels; relative clauses; loanwords; dialects; diphthongs; pronouns; treebanks; proverbs
        swear words; noun incorporations; sound changes; dictionaries; corpora; question tags; particles
        citations; place names; punctuation marks; plurals; evidentials; idioms; palindromes
        minimal pairs""",
        """optimality theory; corpus evidence; field recordings; treebank parsing; eye tracking
        memory-based learning; the comparative method; finite-state transducers""",
    ),
    _subject(
        "ecology; zoology; marine biology; botany; evolutionary biology; ornithology; entomology; mycology",
        """migratory; nocturnal; parasitic; freshwater; invasive; flightless; symbiotic; arctic; urban
        bioluminescent; solitary; deep-sea; carnivorous; hibernating; introverted; diurnal; polyphagous""",
        """beetles; owls; orchids; lichens; penguins; earthworms; coral reefs; slime moulds; bumblebees
        hedgehogs; salamanders; cuckoos; mangroves; tardigrades; octopuses; house sparrows; truffles; mosses
        jellyfish; moths; crayfish; ant colonies; field mice; pigeons; weevils""",
        """mark and recapture; radio tracking; DNA barcoding; pitfall traps; mitochondrial genomes
        stable isotopes; time-lapse photography; patience""",
    ),
    _subject(
        """medicine; clinical nutrition; epidemiology; cardiology; public health; neurology; surgery
        dermatology""",
        """chronic; acute; congenital; idiopathic; paediatric; asymptomatic; recurrent; bilateral; elective
        post-operative; benign; psychosomatic; double-blind; geriatric; seasonal; left-handed""",
        """migraines; placebos; fractures; waiting rooms; vaccines; hiccups; allergies; sleep disorders
        bandages; hospital stays; blood types; antibiotics; second opinions; cohorts; lesions; seizures
        outbreaks; surgeons; knee injuries; stethoscopes; side effects; prescriptions""",
        """randomised trials; meta-analysis; magnetic resonance imaging; survival analysis
        early mobilisation; watchful waiting; propensity scores; ultrasound""",
    ),
    _subject(
        "physics; condensed matter; astrophysics; fluid dynamics; quantum optics; acoustics; cosmology",
        """superconducting; turbulent; relativistic; non-equilibrium; topological; chiral; supersymmetric
        cold; entangled; magnetised; degenerate; dark; viscous; ultrafast; hypothetical; isotropic
        spherical""",
        """neutron stars; vortices; phase transitions; spin glasses; black holes; photons; quasicrystals
        plasmas; solitons; lattices; galaxies; gravitational waves; bubbles; shock waves; neutrinos; cows
        pendulums; comets; sand piles; cosmic strings; coffee rings; monopoles; accretion discs; rainbows""",
        """Monte Carlo simulation; mean-field theory; renormalisation; neutron scattering; the path integral
        perturbation theory; laser cooling; dimensional analysis""",
    ),
    _subject(
        """mathematics; algebra; number theory; topology; combinatorics; statistics; geometry
        mathematical logic""",
        """finite; compact; nilpotent; convex; measurable; almost periodic; hyperbolic; Noetherian
        unbounded; recursive; stochastic; non-commutative; Gaussian; perfect; amicable; totally ordered
        hairy""",
        """groups; manifolds; prime gaps; random walks; knots; graphs; matroids; martingales; polynomials
        lattices; inequalities; tilings; braids; elliptic curves; fixed points; sheaves; permutations
        spheres; ultrafilters; counterexamples; magic squares; zeta functions; posets; doughnuts""",
        """induction; generating functions; diagonalisation; forcing; the probabilistic method; a picture
        spectral methods; category theory; the pigeonhole principle""",
    ),
    _subject(
        """history; economic history; medieval studies; maritime history; diplomatic history
        history of science""",
        """medieval; colonial; forgotten; baroque; imperial; revolutionary; provincial; clandestine; Ottoman
        Hanseatic; pre-war; Byzantine; early modern; monastic; unpaid; seditious; Habsburg""",
        """guilds; treaties; lighthouses; merchants; pamphlets; archives; printers; pirates; coffee houses
        plagues; cartographers; railways; monasteries; smugglers; calendars; coronations; letters; borders
        bread riots; tax collectors; clockmakers; famines; spies; shipwrecks; telegraph offices""",
        """parish registers; oral testimony; probate records; port books; private correspondence
        dendrochronology; ship manifests; a lost diary""",
    ),
    _subject(
        "literature; comparative literature; poetics; theatre studies; narrative theory; translation studies",
        """unreliable; epistolary; gothic; pastoral; postcolonial; tragic; lyrical; modernist; Victorian
        anonymous; unfinished; sentimental; satirical; banned; marginal; haunted""",
        """narrators; sonnets; footnotes; heroines; ghost stories; prefaces; novels; metaphors; detectives
        villanelles; fairy tales; marginalia; librettos; diarists; chapter headings; happy endings
        translations; understudies; volumes; love letters; windows; silences; whales""",
        """close reading; distant reading; archival work; a feminist lens; reception theory; stylometry
        rereading; textual criticism""",
    ),
    _subject(
        "philosophy; ethics; epistemology; philosophy of science; aesthetics; metaphysics; logic",
        """moral; necessary; vague; counterfactual; Kantian; analytic; transcendental; self-defeating
        possible; Socratic; tacit; infinite; borderline; irreducible; unobserved; inconvenient""",
        """heaps; zombies; obligations; beliefs; possible worlds; paradoxes; bats; trolleys; reasons
        universals; selves; lies; holes; thought experiments; intuitions; promises; causes; colours
        brains in vats; excuses; teleporters; gods; hypotheses""",
        """conceptual analysis; reflective equilibrium; abduction; modal logic; phenomenology; common sense
        the principle of charity""",
    ),
    _subject(
        "economics; finance; labour economics; development studies; game theory; public policy; marketing",
        """rational; optimal; incomplete; volatile; informal; sticky; competitive; asymmetric; intertemporal
        taxed; subsidised; irrational; risk-averse; liquid; bilateral; hyperbolic; overpriced""",
        """auctions; wages; contracts; pension funds; markets; tariffs; bargainers; central banks; bubbles
        lemons; loyalty cards; voters; supply chains; free lunches; queues; remittances; dividends; tulips
        price wars; coupons; housing booms; monopolies; exchange rates""",
        """instrumental variables; difference-in-differences; a natural experiment; panel data
        mechanism design; regression discontinuity; revealed preference; household surveys""",
    ),
    _subject(
        """psychology; cognitive science; social psychology; memory and cognition
        developmental psychology; education""",
        """implicit; anxious; procrastinating; working; emotional; shy; intrinsic; subliminal; curious
        reluctant; self-reported; visual; adolescent; lucid; forgetful; extroverted; bored""",
        """memories; dreams; first impressions; habits; habits of mind; undergraduates; illusions; teachers
        siblings; grudges; daydreams; classrooms; metaphors; earworms; toddlers; personality tests
        examinations; apologies; attention spans; school lunches; false memories; white lies; readers""",
        """reaction times; factor analysis; diary studies; priming; functional imaging
        structured interviews; spaced repetition; bribery with biscuits""",
    ),
    _subject(
        """geology; climate science; oceanography; hydrology; geography; volcanology; soil science
        meteorology""",
        """alluvial; tectonic; volcanic; glacial; semi-arid; coastal; permafrost; sedimentary; tidal; karst
        subtropical; dormant; wind-blown; Holocene; saline; meandering; seismic""",
        """rivers; glaciers; aquifers; monsoons; earthquakes; sand dunes; sediments; estuaries; landslides
        lava flows; peat bogs; tides; storms; fjords; caves; droughts; ice cores; deltas; basins; fog banks
        hailstones; islands; geysers; contour maps; weather stations""",
        """remote sensing; radiocarbon dating; tree rings; ensemble forecasts; seismic tomography
        sediment cores; satellite altimetry; tracer experiments""",
    ),
    _subject(
        "archaeology; musicology; art history; anthropology; museum studies; architecture; ethnomusicology",
        """bronze-age; gilded; polyphonic; ritual; painted; neolithic; forged; vernacular; monumental
        nomadic; restored; Etruscan; terracotta; improvised; ceremonial; stolen; detuned""",
        """amphorae; fugues; altarpieces; burial mounds; masks; bagpipes; mosaics; bridges; cathedrals
        drums; potsherds; lullabies; staircases; hoards; tapestries; string quartets; ruins; bell towers
        kitchens; gargoyles; portraits; harpsichords; market halls; frescoes""",
        """thermoluminescence; iconography; participant observation; infrared reflectography; excavation
        spectrography; site survey; listening very closely""",
    ),
)
