"""Where things appear: patterns of journals, conferences, books and series, publishers, schools, notes.

Slots in braces are filled by `bibliography.venues`; {Field} is a field of study, {City} a city, and so on.
"""

from __future__ import annotations

from conseq.datasets.words import phrases

JOURNALS = phrases(
    """
    Journal of {Field}; Journal of {Field}; International Journal of {Field}; Annals of {Field}
    {Field} Letters; Transactions on {Field}; {Field} Review; Archive for {Field}; {City} Journal of {Field}
    Quarterly of {Field}; Studies in {Field}; Advances in {Field}; Notes on {Field}
    Bulletin of the {City} Society for {Field}; {Field}; European {Field}; Journal of Applied {Field}
    Progress in {Field}; {Field} Today; Acta {City}; Review of {Field} and {Field2}; {Field} & {Field2}
    Proceedings of the {City} Academy; {Field} Research
    """
)

PROPER_JOURNALS = phrases(
    """
    Nimbus; Tidal Review; Mind and Meter; The Lantern; Speculum Numerorum; Mirabilia; Palimpsest
    The Quarterly Owl; Hinterland; Parallax; Folia; Ampersand; The Winter Review; Margins; Cabinet of Errors
    Ostrava Papers; Isthmus; Footnotes; The Journal of Small Things; Proceedings; The Pages of History
    Press and Society; Terra Cognita
    """
)
"""Journals whose name says nothing of their field."""

CONFERENCES = phrases(
    """
    Proceedings of the {nth} {scope} Conference on {Field}
    Proceedings of the {nth} {scope} Workshop on {Topic}
    Proceedings of the {nth} Annual Meeting of the {Society}; Proceedings of {ACR} {year}; Proc. {ACR} '{yy}
    Proc. of the {scope} Symposium on {Field}; {nth} {scope} Conference on {Field} ({ACR} {year})
    Proceedings of the {year} {scope} Conference on {Field}; Advances in {Field} {k}; {ACR} {year}
    Proceedings of the {scope} Workshop on {Topic}; {scope} Symposium on {Topic}
    Proc. {nth} {scope} Conf. on {Field}; {ACR}'{yy}: {scope} Conference on {Field}
    {scope} Workshop on {Topic} and {Field}; Papers from the {nth} {Society}
    """
)
SCOPES = phrases(
    """International; International; International; European; Nordic; Annual; Joint; {City}; ACS
    Asian; World; Winter"""
)
SOCIETIES = phrases(
    """
    {Field} Society; Association for {Field}; {City} Society for {Field}; {Field} Association
    Institute of {Field}; International Union of {Field}; {City} Circle
    """
)
COLLECTIONS = phrases(
    """
    Handbook of {Field}; Essays on {Topic}; The {City} Companion to {Field}; Readings in {Field}
    Papers in {Field}; New Directions in {Field}; Perspectives on {Topic}; The {City} Handbook of {Field}
    Encyclopedia of {Field}; Essays on {Topic} and {Topic2}; Festschrift for {Person}
    {Topic}: Essays in Honour of {Person}; A Reader in {Field}; Advances in {Field}; Letters from {City}
    {Topic} Revisited; {Topic} and {Topic2}; {Topic} in {City}
    """
)
SERIES = phrases(
    """
    Lecture Notes in {Field}; Studies in {Field}; {City} Monographs in {Field}; Contributions to {Field}
    {City} Series in {Field}; Topics in {Field}; Library of {Field}; {City} Texts
    """
)

PUBLISHERS = phrases(
    """
    Harbour & Finch; Northgate University Press; Meridian Academic; Marlowe Press; Hartley & Sons
    Ashdown House; Okafor Books; Blackwood Scientific; Calloway; Lindqvist Verlag; Gruber Verlag
    Éditions du Moulin; Delacroix; Edizioni Conti; Whitaker & Birch; Saltmarsh Press; Parallel Lines
    Orchard Academic; Quill and Compass; Tessellate; Cormorant Press; Kestrel Books; The Lantern Press
    Stonebridge; Halvorsen Forlag; Plover & Co.; Lisbon University Press; University of Bergen Press
    Durham House; York Street Press; Winter Palace Editions; March Hare Books; Field Notes Press
    Page & Bell; Third Floor Press; Association for Small Computers; Royal Society of Footnotes
    Institute of Unlikely Results; Vogel; Keller Wissenschaft; Nakamura Shoten; Rosen
    Leiden Academic Publishers; Open Drawer; Morgan & Crowley; Palimpsest Press; Cambridge Bridge Books
    """
)

SCHOOLS = phrases(
    """
    University of {City}; University of {City}; {City} University; {City} Institute of Technology
    Technical University of {City}; {Surname} College; {City} State University; {Surname} University
    National University of {Place}; {City} School of {Field}; Royal Academy of {Field}
    """
)
LABORATORIES = phrases(
    """
    {School}; Department of {Field}, {School}; {School}, Department of {Field}
    {Surname} Research Laboratory; {City} Research Center; Institute for {Field}; {Surname} Institute
    School of {Field}, {School}; Laboratory for {Field}; Bureau of {Field}
    """
)

THESES = phrases(
    """
    PhD thesis; PhD thesis; Ph.D. thesis; Ph.D. dissertation; Doctoral dissertation; Master's thesis
    MSc thesis; M.A. thesis; Diploma thesis; Habilitation; Dissertation; Unpublished doctoral dissertation
    """
)
REPORTS = phrases(
    """
    Technical Report {code}; Technical Report {code}; Technical Report; Tech. Rep. {code}
    Research Report {code}; Report No. {k}; Working Paper {k}; Memo {k}; Technical Note {code}
    Internal Report {code}; White paper
    """
)

NOTES = phrases(
    """
    To appear; to appear; In press; in press; Submitted; Submitted for publication; Invited talk
    Extended abstract; Best paper award; Reprinted {year2}; Unpublished manuscript; In {Language}
    With a foreword by {Person}; Short paper; Forthcoming; Erratum in volume {k}; With discussion
    Originally published in {year2}
    """
)
BOOK_NOTES = phrases(
    """
    2nd edition; 2nd ed.; 3rd edition; Second edition; Revised edition; First published {year2}; Paperback
    Translated by {Person}; translated by {Person}; Trans. {Person}; With an introduction by {Person}
    Reprinted {year2}; In {Language}; Illustrated by {Person}
    """
)
WEB_NOTES = phrases(
    """
    Accessed {day} {Month} {year}; Accessed {Month} {year}; Preprint; Manuscript; Working draft
    Retrieved {Month} {day}; Blog post; Online; Last visited {day} {Month} {year}; Under review
    Draft of {Month} {year}
    """
)
LANGUAGES = phrases(
    "German; French; Russian; Japanese; Portuguese; Dutch; Polish; Swedish; Latin; Finnish; Turkish"
)

MONTHS = phrases(
    "January; February; March; April; May; June; July; August; September; October; November; December"
)
ORDINALS = phrases(
    """
    First; Second; Third; Fourth; Fifth; Sixth; Seventh; Eighth; Ninth; Tenth; Eleventh; Twelfth; Thirteenth
    Fourteenth; Fifteenth; Sixteenth; Seventeenth; Eighteenth; Nineteenth; Twentieth
    """
)
SHORT_WORDS = {
    "journal": "J.",
    "international": "Int.",
    "proceedings": "Proc.",
    "transactions": "Trans.",
    "conference": "Conf.",
    "annals": "Ann.",
    "review": "Rev.",
    "letters": "Lett.",
    "bulletin": "Bull.",
    "society": "Soc.",
    "quarterly": "Quart.",
    "european": "Eur.",
    "research": "Res.",
    "studies": "Stud.",
    "advances": "Adv.",
    "archive": "Arch.",
    "applied": "Appl.",
    "academy": "Acad.",
    "annual": "Ann.",
    "symposium": "Symp.",
    "workshop": "Workshop",
    "university": "Univ.",
    "science": "Sci.",
    "theory": "Theory",
}
"""How journals' words are abbreviated; other long words are cut."""
