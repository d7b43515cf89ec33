"""Words and names to draw from; where a list would be too short, syllables go on.

The lists give a corpus its natural look. No entry means anybody, and mail domains end in `.example`, which no real
one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import gcd, prod

# Successive coinages lie this share of all apart, so that they do not look alike; the golden ratio spreads best.
STRIDE = 0.6180339887


def _words(text: str) -> list[str]:
    return text.split()


# No two of these have the same normal form.
SURNAMES = _words("""
Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Thomas Moore Martin Jackson Thompson White
Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams Baker Nelson Carter Mitchell Roberts
Turner Phillips Campbell Parker Evans Edwards Collins Stewart Morris Murphy Cook Rogers Morgan Cooper Reed Bailey Bell
Kelly Howard Ward Cox Richardson Watson Brooks Bennett Gray Hughes Price Foster Sanders Ross Powell Sullivan Russell
Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer Richter Klein Wolf Schröder
Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner Krause Lehmann Köhler Maier Kaiser Fuchs Vogel
Dubois Moreau Laurent Bernard Petit Durand Leroy Roux Fournier Girard Bonnet Lambert Fontaine Rousseau Blanc Guérin
García Fernández González Rodríguez López Martínez Sánchez Pérez Gómez Jiménez Ruiz Hernández Díaz Moreno Muñoz
Álvarez Romero Alonso Gutiérrez Navarro Torres Domínguez Vázquez Ramos Gil Serrano Molina Castro Ortega Delgado
Silva Santos Oliveira Souza Pereira Ferreira Almeida Costa Carvalho Ribeiro Rocha Teixeira Barbosa Cardoso Correia
Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Mancini Giordano Rizzo
Hansen Johansen Olsen Larsen Andersen Pedersen Nilsen Kristiansen Jensen Karlsen Sørensen Rasmussen Jørgensen Møller
Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson Lindberg Lindström Bergström Sjöberg
Korhonen Virtanen Nieminen Mäkinen Hämäläinen Laine Heikkinen Koskinen Järvinen Lehtonen Salminen Heinonen Niemi
Nowak Kowalski Wiśniewski Wójcik Kamiński Lewandowski Zieliński Szymański Woźniak Dąbrowski Kozłowski Jankowski
Novák Svoboda Novotný Dvořák Černý Procházka Kučera Veselý Horák Němec Pokorný Marek Horvat Kovačić Babić Marić
Nagy Kovács Tóth Szabó Horváth Varga Kiss Molnár Németh Farkas Balogh Papp Takács Juhász Lakatos Mészáros
Ivanov Smirnov Kuznetsov Popov Sokolov Lebedev Kozlov Novikov Morozov Petrov Volkov Solovyov Vasiliev Zaitsev Pavlov
Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Aydın Özdemir Arslan Doğan Kılıç Aslan Çetin Kara Koç
Papadopoulos Georgiou Nikolaidis Pappas Ionescu Popescu Radu Dumitru Stoica Petrescu Cohen Levi Mizrahi Peretz
Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie Tang Han Cao Deng
Feng Xiao Cheng Yuan Peng Pan Dong Cai Jiang Shen Fan Ye Su Lu Wei Ding Ren Lei Qian Dai Zou Xiong Meng Qin
Kim Lee Park Choi Jung Kang Cho Yoon Jang Lim Shin Seo Kwon Hwang Ahn Song Yoo Hong Jeon Moon Yamamoto
Sato Suzuki Takahashi Tanaka Watanabe Ito Nakamura Kobayashi Kato Yoshida Yamada Sasaki Matsumoto Inoue Kimura Shimizu
Hayashi Saito Yamaguchi Ikeda Abe Mori Ishikawa Ogawa Okada Goto Hasegawa Fujita Kondo Ishii Sakamoto Endo Aoki
Sharma Gupta Singh Kumar Patel Reddy Rao Verma Mehta Shah Jain Agarwal Mishra Das Chatterjee Mukherjee Iyer Nair
Nguyen Tran Pham Hoang Phan Vu Dang Bui Ngo Duong Rahman Hossain Islam Ahmed Khan Ali Hassan Hussein Ibrahim Okafor
Adeyemi Mensah Osei Mbeki Ndlovu Dlamini Wanjiru Otieno Abebe Tesfaye Haile Rahimi Hosseini Mohammadi Karimi Ahmadi
""")

GIVEN_NAMES = _words("""
Adam Alice Anna Andrea Ana Aisha Akira Antonio Barbara Bruno Beatriz Benjamin Bo Carla Christian Chen Carmen Claudia
Carlos Daniel David Diana Dimitri Dong Elena Emma Eric Eva Emeka Esther Felix Francesca Frank Fatima Feng Gabriel
George Greta Giulia Guang Hannah Hans Helen Hiroshi Hui Hugo Ingrid Isabel Ivan Igor Irene Jane John Julia Jan Jing
James Jun Joana Karen Karl Kenji Katarina Kwame Kai Laura Lars Li Lucia Lei Leon Maria Michael Mei Marco Ming Martin
Magdalena Mohammed Nina Nicolas Noriko Natalia Nils Olga Oscar Olivia Omar Paul Petra Peter Paola Ping Pedro Rachel
Robert Rosa Raj Rui Roberto Sarah Stefan Sofia Samuel Shu Simon Susanne Thomas Teresa Tao Takashi Tomas Tanja Victor
Vera Valentina Vikram Wei William Wanda Wolfgang Wen Xin Xiao Xavier Xia Yan Yuki Yusuf Yvonne Ying Zoe Zhen Zofia
""")

# Which middle initials each first initial may have, "" for none: few, so that homonyms are dense enough, and none
# of them often, as in print.
MIDDLE_INITIALS = ("", "A", "M", "J", "W")

SURNAME_PARTS = (
    _words("Al Bar Ber Bo Cal Car Chu Dal Dor El Fal Fe Gar Gol Hal Ha Is Jo Kal Ko Lam Le Mar Mi Nor Ol Pe Ra Sal Te"),
    _words("a ba be da de di ga go i ka ke la le li lo ma mi na ne ni ra re ri ro sa se ta te ti va ve vi za"),
    _words("""
    berg by der din dorf enko er feld gren holm ian ic ini ino kov kyan land lund man mann nen ov rup sen ski son stad
    strom ton ulu va vic wala wood
    """),
)
CITY_PARTS = (
    _words("""
    Ald Ash Bel Bran Cam Car Dun East Fal Glen Green Hal Hart Kel Lan Lin Mar Mid New Nor Oak Os Pel Ros San Stan Tor
    Ul Val Wes
    """),
    _words("a e en er i in is o on or u"),
    _words("""
    beck berg borg bridge burg by dale field ford grad haven holm hurst mere minster mouth polis port stad stein ton
    vale ville wick worth
    """),
)
COUNTRIES = _words("""
Germany France Spain Italy Norway Sweden Finland Poland Austria Hungary Turkey Greece Brazil Canada Mexico India China
Japan Vietnam Nigeria Ghana Kenya Israel Iran Australia USA
""")
INSTITUTION_FORMS = (
    "University of {city}, {city}, {country}",
    "{city} University, {city}, {country}",
    "{city} State University, {city}, {country}",
    "{city} Institute of Technology, {city}, {country}",
    "University Hospital {city}, {city}, {country}",
    "National Laboratory {city}, {city}, {country}",
)

# Field of research (which is also its category), its department, and words that its topics share.
FIELDS = """
Condensed Matter Physics|Physics|lattice phonon crystal superconductor spin band electron insulator
Astronomy & Astrophysics|Astronomy|galaxy star supernova halo redshift telescope planet nebula
Optics|Physics|laser waveguide photon grating lens cavity beam resonator
Organic Chemistry|Chemistry|ligand catalyst synthesis reagent solvent ester isomer amine
Physical Chemistry|Chemistry|adsorption surface molecule spectrum electrode kinetics radical cluster
Materials Science|Materials Science|alloy coating polymer ceramic composite fracture grain fatigue
Genetics & Heredity|Genetics|gene allele locus genome chromosome phenotype mutation linkage
Cell Biology|Biology|membrane kinase receptor vesicle protein mitosis organelle pathway
Microbiology|Biology|bacterium strain biofilm antibiotic pathogen toxin plasmid colony
Immunology|Medicine|antigen antibody lymphocyte cytokine vaccine inflammation tolerance serum
Oncology|Medicine|tumour carcinoma metastasis chemotherapy biopsy survival lymphoma relapse
Cardiology|Medicine|artery infarction hypertension ventricle stent arrhythmia thrombus valve
Clinical Neurology|Medicine|stroke seizure dementia lesion neuropathy migraine sclerosis tremor
Neurosciences|Psychology|neuron synapse cortex hippocampus plasticity axon stimulus dendrite
Psychiatry|Medicine|depression anxiety psychosis therapy disorder symptom relapse trauma
Psychology, Experimental|Psychology|memory attention perception reaction bias recall emotion cue
Public Health|Public Health|cohort screening prevalence exposure mortality risk nutrition obesity
Surgery|Medicine|graft incision transplant laparoscopy wound implant anaesthesia suture
Ecology|Biology|habitat predator forest biodiversity grassland migration pollinator niche
Plant Sciences|Biology|leaf root seedling drought chloroplast flower cultivar pollen
Marine Biology|Biology|reef plankton fish sediment estuary coral larva seaweed
Geology|Geosciences|basin fault mineral magma sediment rift basalt mantle
Meteorology|Geosciences|precipitation aerosol cloud monsoon convection humidity storm forecast
Water Resources|Civil Engineering|river groundwater catchment flood irrigation runoff aquifer reservoir
Environmental Sciences|Geosciences|pollutant emission soil metal contamination waste ozone wetland
Agriculture|Agriculture|crop yield fertilizer livestock wheat pesticide maize tillage
Food Science|Agriculture|milk starch fermentation flavour storage antioxidant meat probiotic
Civil Engineering|Civil Engineering|beam concrete bridge load earthquake pavement pile vibration
Mechanical Engineering|Mechanical Engineering|turbine bearing friction gear lubrication rotor weld nozzle
Electrical Engineering|Electrical Engineering|voltage converter antenna grid inverter amplifier circuit motor
Automation & Control Systems|Electrical Engineering|controller actuator stability robot delay observer feedback sensor
Computer Science, Artificial Intelligence|Computer Science|classifier network kernel agent ontology query learner corpus
Computer Science, Theory|Computer Science|graph automaton complexity proof language tree algorithm encoding
Information Science|Information Science|citation library author indexing retrieval metadata archive journal
Mathematics|Mathematics|manifold operator theorem group inequality conjecture ring eigenvalue
Statistics & Probability|Mathematics|estimator likelihood variance prior regression martingale sample quantile
Economics|Economics|market inflation tax wage investment trade firm auction
Sociology|Social Sciences|household inequality gender migration family neighbourhood class identity
Education|Education|teacher curriculum classroom student assessment literacy school mentor
Political Science|Social Sciences|election voter party parliament treaty democracy conflict policy
""".strip().splitlines()

TERM_PARTS = (
    _words("""
    bio nano photo thermo hydro geo neuro micro macro poly iso meta para cyto electro magneto litho morpho proto endo
    exo hyper inter multi sub trans auto chemo immuno radio
    """),
    _words("""
    chron crin derm gen graph kin log lyt mer metr morph nom path phag phil phon phor phyl plast scop som spor stat tact
    therm tom ton tox troph vect
    """),
    _words("al ase ation ator ene ide in ism ite ity oid on or ure"),
)

ADJECTIVES = _words("""
new recent large small general specific robust efficient significant different similar novel complex simple linear
local global early late high low strong weak stable dynamic static common rare direct clinical experimental empirical
theoretical numerical structural functional optimal relative independent dependent reliable sensitive important
possible additional available consistent effective accurate appropriate comparative systematic longitudinal
""")
NOUNS = _words("""
method model result study analysis approach system effect process structure property function problem parameter
response condition measurement difference relation theory experiment technique change factor level mechanism
application performance dataset comparison framework simulation pattern behaviour role evidence distribution scale
value test procedure context development strategy limit design estimate concept hypothesis feature observation
""")
# Regular ones, whose forms follow from adding -s, -ed and -ing.
VERBS = _words("""
analyse measure compare examine explain observe extend derive propose evaluate explore describe predict test assess
detect estimate reveal improve reduce increase present report consider discuss investigate introduce develop confirm
capture enhance affect determine characterise obtain suggest demonstrate indicate support address combine construct
""")

# t, T: a topic's term, its plural; n, N: an academic noun, its plural; a: adjective; v, s, d, g: verb, -s, -ed, -ing.
TITLES = """
{a} {T} and the {n} of {t} {T}
{g} {T} in {t} {N}
On the {n} of {T} in {a} {t} {N}
{t} and {t}: a {a} {n}
A {a} {n} for {g} {t} {T}
{T}, {T} and {a} {N} of {t}
The {n} of {t} {N} under {a} {T}
{g} {t} {N} with {a} {T}
How {T} {v} the {t} {n}
Towards {a} {N} of {t} {T}
""".strip().splitlines()
OPENINGS = """
The {n} of {T} is one of the most {a} {N} in the field, and {T} have often been {d} with {a} {N}.
Although {T} are known to {v} {t} {N}, it is not clear how {a} {T} {v} them.
There has been {a} interest in {T} since {t} {N} were {d} by several groups.
Many {N} of {t} rest on {a} {T}, yet few of these have been {d} in detail.
In the last years {a} {N} have {d} {T} and {T}, which are both {a} and {a}.
It is well known that {t} {s} the {n} of {T} under {a} {N}.
Because {T} {v} both {t} and {t}, a {a} {n} of their {N} is needed.
""".strip().splitlines()
METHODS = """
We {v} a {a} {n} for {g} {T} and {v} it with {t} {N} from {a} {N}.
Here the {n} of {t} was {d} by {g} {T} with a {a} {n} over several years.
In this paper we {v} {T} and {v} their {N} to those of {a} {T}.
A {a} {n} was used for {g} {t} {N}, while {T} were {d} separately.
Our {n} {s} {T} from {t} {N} without any {a} {n} of the {t}.
Using {a} {N}, we {d} {T} that were {d} before and after {t} {N}.
To {v} this, {T} were {d} in {a} {N} and their {t} was {d} twice.
""".strip().splitlines()
RESULTS = """
The {N} {v} that {T} are more {a} than {t} {N}, in particular for {a} {T}.
We found {a} {N} between {T} and {t}, but no {n} of {T}.
In contrast, {a} {T} {d} the {t} {n}, whereas {a} {N} of {T} did not.
Both {t} and {T} were {d} to be {a}, with {a} {N} in most of the {N}.
When {T} were {d}, the {n} of the {t} {d} by a {a} factor.
For {a} {T} the {n} {s} {t} {N} at least as well as the {a} {n}.
Moreover, {T} with {a} {N} {d} {t} more than those with {a} {T}.
""".strip().splitlines()
CLOSINGS = """
These {N} {v} that {T} should be {d} together with {t} {N}.
We conclude that {t} is a {a} {n} for {g} {T} in {a} {N}.
Our {n} {s} the {n} of {T} and may help to {v} {a} {T}.
This {s} the view that {a} {T} {v} {t}, and it has {N} for {g} {T}.
Further {N} are needed to {v} whether {T} also {v} {a} {t} {N}.
Taken together, {T} are {a} for {t}, which had not been {d} before.
""".strip().splitlines()

FIELD_VENUES = ("{field} Letters", "Annals of {field}", "Reviews in {field}")
TOPIC_VENUES = ("Journal of {term} Research", "International Journal of {term} and {other}", "{term} Quarterly")
GENERAL_VENUES = ("Proceedings of the Academy", "Science Reports Online", "Open Research Letters")


def coined(parts: tuple[list[str], list[str], list[str]], taken: set[str]) -> Iterator[str]:
    """Yield ever new words of a start, some middles and an end, shorter ones first, none of them taken.

    >>> words = coined((["La", "Mo"], ["ri"], ["by", "ton"]), taken={"Moriby"})
    >>> [next(words) for _ in range(4)]
    ['Lariby', 'Moriton', 'Lariton', 'Laririby']
    """
    seen = set(taken)
    for length in count(1):
        pieces = [parts[0], *[parts[1]] * length, parts[2]]
        for code in _strewn(prod(map(len, pieces))):
            word = _spell(pieces, code)
            if word not in seen:
                seen.add(word)
                yield word


def _strewn(size: int) -> Iterator[int]:
    """Yield range(size) in an order in which neighbours are far apart."""
    stride = max(1, int(size * STRIDE))
    while gcd(stride, size) > 1:
        stride += 1
    return (number * stride % size for number in range(size))


def _spell(pieces: list[list[str]], code: int) -> str:
    """Read a number as one choice of pieces."""
    word = ""
    for choices in pieces:
        code, choice = divmod(code, len(choices))
        word += choices[choice]
    return word
