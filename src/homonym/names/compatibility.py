"""Compatibility: may two mentions of one block be the same person, going by their names alone.

Compatible means "nothing in the names speaks against it": the relation is symmetric and reflexive but not transitive,
as "J" may be Jane or John, who are two people. A true pair that is cut can never be joined again, a false one let
through still has to look alike in its features: where a rule is in doubt it lets the pair through.

Words
- An initial stands for every word that it begins, also in another script: J / Jane, Y / Iurii, "Th." / Thomas.
- A word of three letters and more stands for those that it begins: Alex / Alexander, Fred / Frederick.
- Spellings of one sound are one name: Sergey / Serguei / Serhii, Jörg / Joerg, Youssef / Yusuf, Hyeon / Hyun.
- Short forms and forms of other languages are one name: Bob / Robert, Sasha / Aleksandr, Mohamed / Muhammad.
- One slip in a word of six letters and more: Christopher / Christoper. Not in its first letter, not where only the
  last vowel differs (Fernando / Fernanda), and not between two well-known names (Francis / Frances, Paul / Paula).
- Chinese and Japanese given names beside such a surname are equal or different, as one letter makes another name:
  "Wang, Yan" / "Wang, Yang", "Liu, Fang" / "Liu, Fangli" and "Nakamura, Hideki" / "Nakamura, Hideaki" are two people.

Given names
- A missing name speaks against nothing: Jane / Jane W., J / JW; but Jane W. / Jane H. are two people.
- Names may be joined: Xiao-Ming / Xiaoming / Xiao Ming / XM, Jean-Pierre / Jean / JP. "Wang, XM" is not "Wang, Xiaoli".
- The first two may be swapped if both are written out: Xiao Ming / Ming Xiao.
- The first may be dropped if the second is written out: J. William / William, John William / William. Not in Chinese
  and Japanese names.
- Later ones may be dropped where two are left that agree: José Antonio Maria / José Maria, JAM / JM.

Whole names
- Two suffixes must agree: Jr / III are two people; a missing one says nothing.
- Surname and given name may be swapped: "Wei, Wang" / "Wang, Wei".
- Surnames are not compared, as the block has done that. Where they differ, a given name that is part of the other's
  surname says nothing: "Lopez, Ana Garcia" / "Garcia Lopez, Ana Maria".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from homonym.names.parse import Name

Given = tuple[str, ...]

# Spellings of one sound, rewritten in this order.
_SPELLINGS = [
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"^HS", "X"),  # Wade-Giles
        (r"^[IJ](?=[AEOU])", "Y"),  # Iurii, Jurij
        (r"^YE", "E"),  # Yevgeny
        (r"TSCH|TCH|CZ", "CH"),
        (r"SCH|SZ", "SH"),
        (r"DZH|DJ|ZH", "J"),
        (r"PH", "F"),
        (r"KH", "H"),
        (r"([GTD])H", r"\1"),
        (r"CK|C(?![EHIY])|Q", "K"),
        (r"X(?!I)", "KS"),
        (r"GU(?=[EI])", "G"),  # Serguei
        (r"E[AEIJY]|I[EJ]|A[IJY]", "I"),  # Kareem, Sergey
        (r"AE", "A"),
        (r"OE(?!$)", "O"),  # Joerg, but Zoe
        (r"EO|OO|OU|EU|UE(?!$)", "U"),  # Hyeon, Joon, Youssef, Seung, Juergen
        (r"[JY]", "I"),
        (r"W", "V"),
        (r"Z", "S"),
        (r"H(?![AEIOU])|(?<=[AEIOUR])H", ""),  # Sarah, Serhii
        (r"(.)\1+", r"\1"),
        (r"I+(?=[AOU])", ""),  # Mariya, Liudmila
        (r"ER$", "R"),  # Aleksander
    )
]


@lru_cache(maxsize=2**16)
def _key(word: str) -> str:
    """Write a word by its sound."""
    sound = word
    for pattern, replacement in _SPELLINGS:
        sound = pattern.sub(replacement, sound)
    return sound or word


# Forms of one name between commas; a form may belong to several, a spelling by sound is added by itself. What stands
# here is well known: two forms that never stand together are two names, however alike they look.
_FORMS = """
    AARON HARON, ABDALLAH ABDULLAH ABDELLAH, ABDELRAHMAN ABDULRAHMAN ABDURRAHMAN ABDERRAHMAN ABDERRAHMANE, ABIGAIL ABBY
    GAIL, ABRAHAM ABE AVI IBRAHIM EBRAHIM AVRAHAM, ADAM, ADRIAN ADRIANO ADRIEN, ADRIANA ADRIENNE, AGNES AGNIESZKA, AHMED
    AHMAD AHMET ACHMED, ALAN ALLEN AL ALAIN, ALBERT AL BERT ALBERTO ALBRECHT ADALBERT, ALEKSANDR ALEX ALEC ALIK
    ALEJANDRO ALESSANDRO ALEXANDRE ALEXANDROS ALEKOS SANDY SANDRO SASHA XANDER OLEKSANDR ALIAKSANDR ISKANDER SANDOR,
    ALEKSANDRA ALEX ALESSANDRA ALEJANDRA ALEXA SANDRA SASHA SANDY OLEKSANDRA, ALEXEY ALEX ALEXIS OLEKSII ALYOSHA, ALFRED
    ALF FRED ALFREDO, ALI, ALICE ALICIA ALISON ALLY, AMANDA MANDY, AMELIA AMALIA, ANASTASIA NASTYA, ANATOLY TOLYA ANATOL
    ANATOLE, ANDREA, ANDREW ANDY DREW ANDREI ANDREAS ANDRE ANDRES ANDRZEJ ANDERS ANDROS ANDRAS ONDREJ, ANGELA ANGIE
    ANGELICA ANGELINA, ANN ANNA ANNE ANNIE ANNETTE ANITA HANNAH HANNE NANCY NINA ANKE ANNIKA ANNICK, ANTHONY TONY ANTON
    ANTONIO ANTOINE ANTONIOS ANTONIS TONINO ANTAL, ANTONIA TONI TONIA ANTONIETTA, ARNOLD ARNO ARNIE ARNAUD ARNALDO,
    ARTEM ARTYOM ARTEMII, ARTHUR ART ARTIE ARTURO, ATHANASIOS THANASIS THANOS NASOS SAKIS, AUGUST GUS AUGUSTO AUGUSTUS
    AUGUSTIN AUGUSTINE AGUSTIN, BARBARA BARB BABS BARBRA BARBEL BASIA, BARTHOLOMEW BART BARTOLOMEO BARTOSZ BARTLOMIEJ
    BARTEK, BEATRICE BEA BEATRIZ BEATRIX BEATE BEATA, BENJAMIN BEN BENNY BENEDICT BENOIT BENEDETTO BENITO, BERNARD
    BERNIE BERNHARD BERND BERNARDO BERNDT BERT, BERTRAND BERT BERTRAM, BEVERLY BEV, BOHDAN BOGDAN DAN, BRADLEY BRAD
    BRADFORD, BRENDAN BRENDON, BRIAN BRYANT BRIEN, BRIDGET BRIGITTE BIRGIT BRITTA BRIGIT BRIGITTA, BRUCE, CALVIN CAL,
    CARL CARLOS CARLO CHARLES KAREL CARLES KAROL, CARLA, CARMEN CARMELA, CAROL CAROLE CAROLINE CAROLYN CAROLINA CARRIE
    CARO LINA, CATHERINE KATHARINE KATHRYN KATE KATIE KAT KITTY KAY KATARINA KATERINA KATJA EKATERINA KATARZYNA KASIA
    KATRINA KARIN KAREN KARINA KATALIN CATALINA, CECILIA CECILE CECILY CELIA CILLE, CHARLES CHARLIE CHUCK CHAS CHUCKY,
    CHARLOTTE LOTTE CHARLIE LOTTIE, CHRISTIAN CHRIS CRISTIAN CHRISTER, CHRISTINE CHRISTINA CHRIS CHRISSY CHRISTY TINA
    CRISTINA KRISTIN KRISTINE KRISTEN CHRISTEL CHRISTIANE KIRSTEN KIRSTIN KERSTIN CHRISTA CHRISTIN TINE STINE KRISTI
    KRIS, CHRISTOPHER CHRIS CHRISTOPH CHRISTOPHE TOPHER KRIS CRISTOBAL KRZYSZTOF CHRISTOS KRISTOF KRISTOFFER STOFFEL
    CRISTOFORO, CLARA CLAIRE CLARE CHIARA CLARISSA, CLAUDE CLAUDIO CLAUDIUS, CLAUDIA CLAUDINE, CLEMENT CLEM CLEMENS
    CLEMENTE, CLIFFORD CLIFF, CONSTANCE CONNIE KONSTANZE, CONSTANTIN KONSTANTINOS COSTAS CONSTANTINE KOSTYA COSTIN
    KOSTIANTYN KOSTANTINOS DINOS COSTANTINO, CORNELIA CONNY NELE, CORNELIS CEES KEES CORNELIUS CORNEL CORNELIO NEIL,
    CYNTHIA CINDY, DANIEL DAN DANNY DANIELE DANYLO, DANIELA DANIELLE DANI DANA, DARIA DASHA, DAVID DAVE DAVEY DAVIDE
    DAVIT DAVOOD, DEBORAH DEBRA DEB DEBBIE, DENISE, DENNIS DENNY, DIANA DIANE, DIETER DIETRICH DIETHELM, DIMITRIOS
    DMITRY DIMITRI DIMITRIS DIMA DEMETRIOS DMYTRO DIMITAR MITYA JIMMY DEMETRIUS MITSOS, DOMINIC DOM DOMINIQUE DOMENICO
    DOMINGO NICK MIMMO, DONALD DON DONNIE, DOROTHY DOTTIE DOLLY DORIS DORIT DORA DORTHE THEA DOROTA, DOUGLAS DOUG, EDGAR
    ED EDDIE EDGARD EDGARDO, EDMUND ED EDDIE EDMOND NED TED, EDUARD EDWARD ED EDDIE NED TED TEDDY EDUARDO EDOARDO EDWIN
    WARD, EDWIN ED EDDIE, EGOR IGOR IHOR, ELEANOR ELLEN ELLA NORA NELL NELLIE ELEONORA ELEONORE LENORE ELLIE LEONORE,
    ELENA HELEN HELENA HELENE ELLEN LENA ELENI OLENA LENI NELL ILONA ALENA, ELIJAH ELIAS ELI ILYA ILIAS ELIO, ELIZABETH
    LIZ LIZZIE BETH BETTY BETSY ELIZA LISA LIBBY ELISE ELSE ELSA LISE LIESEL ELZBIETA LISBETH BETTINA ELIZAVETA ISABEL
    ISABELLA ISABELLE ELISABETTA ERZSEBET ELLIE ILSE ELKE BETTE LILIBETH ISOBEL, EMIL EMILIO EMILE EMILIANO, EMILY EMMA
    EM EMILIA EMMY MILLIE, EMMANUEL MANUEL MANNY EMANUELE EMMANOUIL MANOLIS MANU MANOLO IMMANUEL EMANOIL, ERIC ERICH
    RICK RICKY EIRIK, ERICA RIKKE, ERNEST ERNIE ERNST ERNESTO ERNO, EUGENE GENE YEVGENY EUGENIO EUGEN ZHENYA YEVHEN
    YEVHENII JENO, EUGENIA EVGENIA ZHENYA YEVHENIA, EVA EVE EVELYN EVITA EVI, EVANGELOS VANGELIS VAGELIS EVAN, FARIDEH
    FARIDA, FELIX FELICE, FERDINAND FERDI FERNANDO FERNAND HERNAN NANDO HERNANDO, FIODOR FEDOR THEODORE THEODOR TED
    TEDDY THEO FEDIR TEODORO THEODOROS THODORIS, FLORENCE FLO FLORA FLOSSIE, FLORIAN FLO FLORIN FLORENT, FRANCES FRAN
    FRANNIE FRANCESCA FANNY FRANCOISE FRANZISKA FRANCINE FRANCISCA SISSI ZISKA, FRANCIS FRANK FRAN FRANKIE FRANCISCO
    FRANCESCO FRANCOIS FRANZ FRANCO PACO PANCHO FRANTISEK FRANCISZEK FERENC FRANJO FRANCISKUS FRANCESC XESCO FCO
    FRANCHESCO KIKO CHICO, FRANKLIN FRANK, FREDERICA FREDERIQUE FEDERICA FRIEDERIKE FRIDA, FREDERICK FRED FREDDY FRITZ
    FRIEDRICH FEDERICO FREDRIK FRIDERIC FRIEDER RICK FREEK, GABRIEL GABE GABRIELE GAVRIIL GABOR GABRIELLO, GABRIELA
    GABRIELLE GABBY, GENNADY GENA HENNADII, GEOFFREY JEFFREY GEOFF JEFF GOTTFRIED JEFFERY JEFFERSON, GEORGE GEO GEORG
    GEORGES JORGE GIORGIO GEORGY YURI YORGOS GIORGOS GEORGIOS JERZY JURGEN JORG JORDI JOERGEN GORAN HEORHII YORICK
    GYORGY JIRI JOERI, GERALD GERRY JERRY GEROLD GERALDO, GERARD GERRY JERRY GERRIT GERD GERARDO GERT GEERT GEERD
    GERHARDT GEORDIE, GERTRUDE GERTRUD TRUDY TRUDE GERTI, GIANLUCA LUCA, GILBERT GIL BERT GILBERTO, GILES, GLEB GLIB
    HLIB, GREGORY GREG GREGOR GREGORIO GRIGORY GRIGORIOS GRISHA HRYHORII GRZEGORZ GRIGORIS GREGOIRE GREGERS, GUILLERMO
    GUILHERME WILLIAM GUILLAUME MEMO GUGLIELMO GUILLEM, GUNTER GUENTER GUNTHARD GUNTRAM, GUSTAV GUS GUSTAVO GUSTAF
    GUSTAVE GOSTA, HAROLD HARRY HARALD HAROLDO, HASSAN HOSSAIN, HEINRICH HENRY HEINZ HEINER HENRIK HENDRIK HANK HARRY
    HENRIQUE ENRICO ENRIQUE HENNING HENK HEIKO RIK HEIN HINNERK QUIQUE HENRICUS RICO, HENRIETTA HENRIETTE HETTY ETTA
    HENRIKE, HERBERT HERB BERT HERBIE HERIBERTO HERIBERT, HERMAN HERM GERMAN ARMAND ARMANDO HERMANUS, HUBERT BERT
    HUBERTUS HUGH UMBERTO HUMBERTO HUIB HUBERTO, HUGH HUGO HUW HUGHIE HUGUES UGO, HUSSEIN HOSSEIN HOCINE, IGNACIO NACHO
    IGNATIUS IGNAZ IGNACY INAKI IGNASI IGNAZIO IGNACE IGNAT, ILDIKO, INGRID INGA INGE INGEBORG, IRENE IRINA IRA IRENA
    IRINI ARINA IREN, ISAAC IKE ITZHAK ISHAQ IZZY, ISIDORE ISIDRO ISIDORO ISIDRE IZZY, IVAN VANYA IVO JOHN JAN, JACOB
    JAKE JAMES JACQUES JACOBO YAKOV JACOBUS JAAP JACOPO JAKUB KOBI DIEGO KOBUS, JACQUELINE JACKIE JACQUI, JAMES JIM
    JIMMY JAMIE JAIME JEM JAY SEAMUS SHEAMUS HAMISH GIACOMO JAUME DIEGO SANTIAGO JAS, JAN JOHANNES JOHN JOHAN, JANE
    JANET JENNY JANIE JEAN JANICE JAN JEANNE JANA JANINE JEANNETTE JANETTE JANELLE SHEENA SINEAD JEANINE, JASON JAY
    JASE, JEAN JEANNIE, JENNIFER JEN JENNY GUINEVERE JENNA, JEREMY JERRY JEREMIAH JEROME JEREMIAS YIRMIYAHU, JEROME
    JERRY GERONIMO JERONIMO GIROLAMO HIERONYMUS JEROEN HIERONIM, JESSICA JESS JESSIE JESSE, JESUS CHUCHO, JOACHIM
    JOAQUIN ACHIM JOCHEN GIOACCHINO CHIMO JOAKIM QUIM JOAQUIM, JOAN JOANNE JOANNA JO JOANIE JANNEKE JOHNNA HANNE HANNA
    GIOVANNA JUANA JANA JANNE JOKE JOASIA, JOHN JOHNNY JACK JOHANN JOHANNES JAN JEAN JUAN GIOVANNI GIANNI IVAN EVAN SEAN
    SHAWN SHAUN IOANNIS YANNIS GIANNIS JOAO HANS JANOS JENS JOCK JANEZ OWEN YAHYA JANKO HANNES IVO JANI JOHNATHAN JUHA
    JUHANI JUANJO GIAN NINO, JONATHAN JON JONATHON JONNY JONTY, JOSE PEPE JOSEP JOSEBA JOSIP CHEPE JUANJO, JOSEPH JOE
    JOEY JOS JOSE GIUSEPPE JOSEP IOSIF YUSUF BEPPE PEPPE JOSSI JUSSI JOOP JOSIP SEPP YOUSEF PINO SEFI GUISEPPE JO,
    JOSEPHINE JO JOSIE JOSEFINA JOSEFA PEPA FINA, JOSHUA JOSH JOSUE YEHOSHUA GIOSUE, JUDITH JUDY JUDE YEHUDIT JUTTA,
    JULIA JULIE JULIET JULIETTE GIULIA JULES JULITA GIULIETTA ULIANA, JULIAN JULES JULIEN JULIUS JULIO JULIANO GIULIO
    GIULIANO, JULIANA JULIANE GIULIANA LIANA, JUSTIN JUSTINUS JUSTUS, KENNETH KEN KENNY KENT, KIMBERLY KIM, LARISA LARA,
    LAURA LAURIE LORI LAURE LAUREN LORENA LORA LAURETTA LAURENCE LORRAINE, LAWRENCE LARRY LAURENCE LAURENT LORENZ
    LORENZO LARS LAURI LAURITZ LOURENCO LAURENS LAVRENTI LAURENTIU LORNE LAURO LOREN LAURENTIUS, LEO LEON LEONARD LEV
    LEONID LEONHARD LEN LENNY LEONARDO LEONARDUS LYONYA LEOPOLD LEONE LEOPOLDO LENNART LEONIDAS LEONEL LIONEL LEVI
    POLDI, LESLIE LES, LEWIS LOUIS LOU LEW LUIGI LUDWIG LOUIE LODEWIJK LOUKAS GINO ALOIS ALOYSIUS LUDOVIC LOIC LAJOS
    LUDOVICO LOYS LUDWIK, LIDIA, LILIAN LILY LILIANA LILIA LILIANE LIL, LINDA LYNN LINDY BELINDA, LOUISE LOU LUISA LULU,
    LUBOV LUBA, LUCAS LUKE LUC LUCA LUCIAN LUCIO LUCIANO LUCIEN, LUCIA LUCY LUCILLE LUCINDA LUCIANA LUCE, LUDMILA LUDA
    MILA, MAGDALENA MAGDALENE LENA MAGDA MADELEINE MADDIE MARLENE MADELYN LENI MAGDOLNA MALENA, MAHMOUD MAHMUT MEHMOOD,
    MANUELA MANU EMANUELA EMMANUELLE, MARC MARCO MARCOS MARCUS MAREK MARCIN MARKKU MARCELLUS, MARCEL MARCELO MARCELLUS
    MARCELLIN, MARCELA MARCELLE MARCY, MARGARET MAGGIE MEG PEGGY MARGE MARGIE MARGARITA MARGHERITA MARGUERITE MARGARETA
    MARGARETE GRETA GRETE GRETCHEN RITA MARGOT MARGRET MARJORIE MEGAN MARGIT MALGORZATA GOSIA MARGARIDA MARGRIET DAISY
    MAISIE MARGO MARGRETHE MARKETA GRIET MADGE, MARIA MARY MARIAM MIRIAM MARIANNE MARIANA MARIETTA MARIELLA MARIKA MARIT
    MAREN MITZI MIA MASHA MOLLY POLLY MAIRE MAURA MARION MOIRA MARIELLE MARIAN MIEKE MARIJKE MARILYN MARISA MARISOL
    MARYSE, MARIANA MARIANE, MARIO MARIUS MARIAN MARIANO, MARTHA MARTHE PATTY, MARTIN MARTY MARTINUS MARTINO MARTEN
    MORTEN MARTON TIJN MARCIN, MARTINA MARTINE TINA, MATTHEW MATT MATTHIAS MATTEO MATS MATEUSZ MATTY MATVEY MATIJA
    MATHIJS THIJS MACIEJ MATE, MAURICE MORRIS MAURIZIO MAURICIO MORITZ MAURITS MAURO, MAX MAXIM MAXIMILIAN MAXWELL
    MAKSIM MAXIME MASSIMO MAXIMO MAXIMILIANO MASSIMILIANO MASSIMILIAN MAXIMILIEN MAXIMUS, MEHDI MAHDI, MELANIE MEL
    MELLI, MELISSA MEL MISSY LISSA, MICHAEL MIKE MICK MICKEY MICHEL MIKHAIL MISHA MICHELE MIGUEL MIKAEL MIHAI MICHAIL
    MICHALIS MITCH MYKHAILO MIKKEL MIGUELANGEL MIQUEL MIHALY MIKLOS MIKKO MIHALIS MICHAIEL, MICHELLE SHELLY MICHAELA
    MICHELINE MICKEY MICHELA MICAELA, MOHAMMED MUHAMMAD MOHAMMAD MUHAMMED MEHMET MD MOHD MEHMED MAHOMED MOHAMMOD
    MAHAMMAD MOHAMMADI MAMADOU MUHAMMET MUHD MOH, MONICA MONIQUE MONA, MUSTAFA MOSTAFA, NADIA NADEZHDA NADINE NADJA,
    NATALIA NATASHA NATALIE NAT, NATHAN NATHANIEL NATE NAT NATHANAEL JONATHAN NATTY, NICHOLAS NICOLAS NICK NICKY NIKOLAI
    NIKOLAOS NICO NICOLA NIKOLAUS NIKOS KLAUS NIKLAS KOLYA NICCOLO MYKOLA NIELS MIKOLAJ KLAAS NIKITAS COLIN MIKULAS
    NIKOLOZ, NICOLE NICOLA NICKY NICOLETTE COLETTE NICOLETTA, NORBERT BERT NORBERTO, NORMAN NORM NORMAND, OKSANA KSENIA,
    OLGA OLHA OLYA HELGA, OLIVER OLLIE OLIVIER OLIVERIO OLAF OLE OLAV OLOF, OLIVIA LIVIA LIV OLLIE, OMAR OMER UMAR,
    OSCAR OSSI, OTTO OTHMAR, PANAGIOTIS PANOS PANAYIOTIS TAKIS PANICOS NOTIS, PARASKEVI VIVI VOULA EVI, PASQUALE PASCAL
    PASQUALINO PASCHAL PASCUAL PASI, PATRICIA PAT PATTY TRISH TRICIA PATRIZIA PATSY PATRYCJA TRACY, PATRICK PAT PADDY
    PATRICIO PATRIZIO PADRAIG PADRAIC, PAUL PAOLO PABLO PAVEL PAULO PAVLO PAVLOS PAULUS POUL PAU POL PAULI PAULINUS
    PAVAO PAVLE PAULINO, PAULA PAULINE PAOLA PAULINA POLINA PAULETTE PAVLINA PAVLA, PENELOPE PENNY PINELOPI, PETER PETE
    PEDRO PIERRE PIOTR PIETRO PETROS PETRUS PIET PETAR PER PEDER PETRO PETRE PETRI PIETER PIER PIERO PERE PETRA PETEY
    PEKKA PEJO PIERS PIERRICK, PETRA PETRONELLA, PHILIP PHIL PHILIPPE FELIPE FILIPPO FILIPPOS PIP FLIP PHILIPPUS LIPPO
    FULOP, PHYLLIS PHYL, PRZEMYSLAW PRZEMEK PRZEMO, RACHEL RACHAEL RAE RAQUEL RACHELE RAHEL SHELLEY, RAJENDRA RAJENDER
    RAJ, RAJESH RAJ, RAJIV RAJ, RALPH RAFE RAOUL, RANDOLPH RANDY RANDALL RAND, RAPHAEL RAFFAELE RAF RAFI RAFFAELLO RAFE,
    RAYMOND RAY RAIMUND RAIMUNDO RAMON RAIMO RAIMON RAYMONDO, REBECCA BECKY BECCA RIVKA, REGINALD REG REGGIE REINHOLD
    RONALD REYNALDO REINOLD, RENE, RENEE RENATE RENATA, RICHARD RICK RICH DICK RICARDO RICKY RICHIE RIKARD RYSZARD
    DICKIE RICHARDUS RIKU, ROBERT BOB BOBBY ROB ROBBIE BERT ROBIN ROBERTO ROBT RUPERT RUPRECHT RUPERTO, ROBERTA BOBBIE
    ROBIN BERTA, RODERICK ROD RODDY RORY RODRIGO RODRIGUE, RODNEY ROD RODDY, ROGER ROG RODGER RUDIGER RUGGERO ROGELIO
    ROGERIO RUTGER, ROMAN ROMAIN ROMANO ROMANUS, RONALD RON RONNIE RONALDO RONALDUS RONAN, ROSE ROSA ROSEMARY ROSIE
    ROSALIE ROSALIND ROSALYN ROSITA ROSALBA ROSANNA ROSANNE ROSALIA ROISIN, RUDOLF RUDY ROLF RODOLFO RODOLPHE RUDOLPHE
    RUUD DOLF, RUSLAN, RUSSELL RUSS RUSTY, RUTH RUTHIE, SALVATORE SALVADOR SAL, SAMANTHA SAM SAMMY, SAMUEL SAM SAMMY
    SAMUELE SHMUEL SAMULI, SARAH SALLY SADIE SARAI, SEBASTIAN SEB BASTIAN SEBASTIEN SEBASTIANO BASTIEN BAS BASTI SEBA
    SEBASTIAO, SERGEY SERGE SERGIO SERHII SERGIUS SERGIU, SHEIKH SHAIK, SIDNEY SID, SIGRID SIRI, SIMON SIMEON SEMEN
    SEMYON SHIMON SIMONE SIMAO SIMO SIM SIMEN, SIMONA SIMONE SIMONETTA, SOFIA SOPHIE SONIA, SOLOMON SOL SALOMON SHLOMO
    SULEIMAN SOLLY, SPYRIDON SPYROS, STANISLAV STAN STAS STASIK STASHEK STANISLAS STANISLAO, STANLEY STAN, STEPHANIE
    STEPH STEFANIA STEFFI STEVIE, STEPHEN STEVE STEVEN STEFAN STEFANO STEPHANE ESTEBAN STEPAN STEFANOS STEVIE ISTVAN
    ETIENNE STEF SZCZEPAN STEPHANUS ESTEVAO STEIN STEPHON STEPHENS, STUART STEWART STU STEW, STYLIANOS STELIOS, SUSAN
    SUE SUSIE SUSANNE SUSANNA SANNE SHOSHANA, SVETLANA LANA SVITLANA SVETA, SYLVESTER SLY SILVESTRE SILVESTRO, SYLVIA
    SILVIE SILVANA SILKE, TAMARA TAMMY TOMA TAMAR, TARAS, TATIANA TANYA TETIANA, TERENCE TERRY TERRANCE, TERESA TERRY
    TESS TERESE RESI TRACY TERESINHA TERESITA, THADDEUS TAD TADEO TADEJ TADEAS, THEODORA DORA THEA THEODOULA, THOMAS TOM
    TOMMY TOMASO TOMEK THOS TAMAS TOMISLAV TOMO FOMA TUOMAS MASO, TIMOTHY TIM TIMMY TIMOTHEUS TIMO TYMOFIY TIMOTEO
    TIMUR, TOBIAS TOBY, ULRICH ULI ULRIK ULF UDO, ULRIKE ULLA ULI RIKE ULRIKA, URSULA ULLA USCHI URSEL ORSOLYA URSZULA,
    VADIM, VALENTIN VAL VALENTINO VALENTINE VALYA VALENTINUS WALENTY BALINT, VALENTINA VAL VALYA, VALERIE VALERIA VAL
    LERA, VALERY VALERIO VALERIAN, VASILIKI VICKY VASO, VASILY VASYL VASILIOS VASILIS BASIL VASYA BASILIO BAZYLI VASILE
    BILL BASILE, VERONICA RONNIE VERONIQUE VERA VRONI, VICTOR VIC VITYA VITTORIO VITOR VICTORIO, VICTORIA VICKY VIKA
    VITTORIA TORI VICTOIRE TORIA, VINCENT VINCE VINNIE VINCENZO VICENTE VINCENTIUS VIN VICENZO ENZO VINCAS VINCENC
    VICENT CENZO WINCENTY VINZENZ VINCENS, VIRGINIA GINNY GINA VIRGINIE GINGER, VITALY VITO VITYA VITALIS, VLADIMIR
    VOLODYMYR VLAD VOVA VOLODYA WLODZIMIERZ ULADZIMIR VLADO VLADIMER WALDEMAR, VLADISLAV VLAD SLAVA LADISLAV LASZLO
    VLADISLAVS LACI VACLAV, VYACHESLAV SLAVA VIACESLAV VENCESLAS VACLAV, WALTER WALT WALLY GUALTIERO WOUTER WALTERIO
    GAUTIER VALTTERI GUALTER, WERNER WERNHER, WILFRED WILFRIED FRED WILF WILFREDO FREDY, WILHELMINA MINA WILMA MINNIE
    WILLEMIJN HELMINA, WILLIAM BILL BILLY WILL WILLIE WM WILHELM WILLEM GUILLERMO GUILLAUME WIM LIAM WILSON WILLIS PIM
    JELLE VILMOS VILLE WILMAR, XAVIER JAVIER XAVI JAVI SAVERIO XAVER FRANCISCOJAVIER KSAWERY, YAROSLAV SLAVA JAREK
    YARIK, YASMIN JASMINE YASAMIN, YOUSSEF YUSUF JOSEPH, YURI YURA GEORGE JURE JYRKI JERZY JURGIS, ZACHARY ZACK ZACH
    ZACHARIAS ZAKARIA ZACHARIA ZACHERY ZAKHAR ZECHARIAH
"""
_KNOWN = frozenset(_FORMS.replace(",", " ").split())

SHORTEST_PREFIX, _SHORTEST_SLIP = 3, 6
_MOST_JOINED, _MOST_SILENT = 4, 2  # words written as one; letters by which spellings of one sound differ
MOST_NAMES = 10  # that are read: longer names are lists of people, and every join doubles the ways to read them
_TWO_LETTER_INITIALS = frozenset("CH DZ GY IA IU JA JE JU PH SH SZ TH YA YE YU ZH".split())
_SAME_LETTER = frozenset("IJ IY JI JY YI YJ".split())
_OTHER_INITIALS = {"IA": "YJ", "IU": "YJ", "JA": "YI", "JU": "YI", "YA": "IJ", "YE": "EJ", "YU": "IJ", "JE": "EY"}

_CHINESE = (
    "(?:[JQX](?:I(?:A|E|AO|U|AN|N|ANG|NG|ONG)?|U(?:E|AN|N)?)"
    "|(?:[ZCS]H?|R)(?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|I|U(?:A|O|AI|I|AN|N|ANG)?)"
    "|[BPMF](?:A|O|AI|EI|AO|OU|AN|EN|ANG|ENG|I(?:E|AO|AN|N|NG)?|U)"
    "|[DTNL](?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|I(?:A|E|AO|U|AN|N|NG|ANG)?|U(?:O|I|AN|N|E)?)"
    "|[GKH](?:A|E|AI|EI|AO|OU|AN|EN|ANG|ENG|ONG|U(?:A|O|AI|I|AN|N|ANG)?)"
    "|Y(?:A|AN|ANG|AO|E|I|IN|ING|ONG|OU|U|UAN|UE|UN)|W(?:A|AI|AN|ANG|EI|EN|ENG|O|U)|A|AI|AN|ANG|AO|E|EN|ER|OU)"
)
_JAPANESE = "(?:(?:K?K|S?S|T?T|P?P|[GZDNHBMR])?Y?[AIUEO]|(?:S?SH|T?CH|T?TS|J|F|W)[AIUEO]|N(?![AIUEO]))"
_SYLLABLE = re.compile(_CHINESE).fullmatch
# No name is longer than 18 letters, and the ways to part a longer word into syllables would be too many to try.
_WORD_OF = {
    "chinese": re.compile(f"(?=.{{1,18}}$){_CHINESE}+").fullmatch,
    "japanese": re.compile(f"(?=.{{1,18}}$){_JAPANESE}+").fullmatch,
}


def compatible(a: Name, b: Name) -> bool:
    """Tell whether two names of one block can belong to one person.

    >>> from homonym.names.parse import parse_name
    >>> jane, john, j_w = map(parse_name, ("Doe, Jane", "Doe, John", "Doe, J. W."))
    >>> compatible(jane, j_w), compatible(john, j_w), compatible(jane, john)
    (True, True, False)
    """
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return False
    if a.surname == b.surname:
        return given_compatible(a.given, b.given, language_of(a.surname))
    return _swapped(a, b) or given_compatible(_without(a.given, b.surname), _without(b.given, a.surname))


def _swapped(a: Name, b: Name) -> bool:
    """Tell "Wei, Wang" and "Wang, Wei"."""
    return "".join(a.given) == b.surname.replace(" ", "") and "".join(b.given) == a.surname.replace(" ", "")


def _without(given: Given, surname: str) -> Given:
    words = surname.split()
    return tuple([name for name in given if len(name) == 1 or name not in words])


@lru_cache(maxsize=2**16)
def language_of(surname: str) -> str:
    """Tell a Chinese surname, which is one syllable, and a Japanese one; "" for all others."""
    if _SYLLABLE(surname):
        return "chinese"
    return "japanese" if _WORD_OF["japanese"](surname) else ""


def given_compatible(a: Given, b: Given, language: str = "") -> bool:
    """Compare given names beside a surname of this language ("chinese", "japanese", "" for others).

    >>> given_compatible(("XIAO", "MING"), ("XIAOMING",)), given_compatible(("JANE", "W"), ("JANE", "H"))
    (True, False)
    >>> given_compatible(("YAN",), ("YANG",)), given_compatible(("YAN",), ("YANG",), "chinese")
    (True, False)
    """
    if not a or not b or a == b:
        return True
    same = same_word(a[0], b[0], language)
    if len(a) == len(b) == 1:
        return same
    a, b = a[:MOST_NAMES], b[:MOST_NAMES]
    if language == "chinese" and not (_initials_fit(a, b) and _initials_fit(b, a)):
        return False
    if same and (_aligned(a[1:], b[1:], language) or _thinned(a, b, language)):
        return True
    written = (len(a) > 1 and len(a[1]) > 1) or (len(b) > 1 and len(b[1]) > 1)
    return _joined(a, b, language) or (written and _rearranged(a, b, language))


def _aligned(a: Given, b: Given, language: str) -> bool:
    """Compare word by word as far as both go; several words may be one in the other name."""
    if not a or not b:
        return True
    return (same_word(a[0], b[0], language) and _aligned(a[1:], b[1:], language)) or _joined(a, b, language)


def _joined(a: Given, b: Given, language: str) -> bool:
    """Read the first words of one name as the first word of the other."""
    return _absorbed(a, b, language) or _absorbed(b, a, language)


def _absorbed(parts: Given, whole: Given, language: str) -> bool:
    word, joined = whole[0], parts[0]
    if len(joined) == 1 or not word.startswith(joined[0]):
        return False
    for size, part in enumerate(parts[1:_MOST_JOINED], start=2):
        joined += part
        # "Xiao M" may be "Xiaoming", as an initial ends what is read; but "Paul A" is not "Paula".
        fits = (word.startswith(joined) and word != joined) if len(part) == 1 else _spelled_alike(word, joined)
        if fits and _aligned(parts[size:], whole[1:], language):
            return True
    return False


def runs(given: Given) -> Iterator[str]:
    """Give the places where several words of a name wait for one of another name: see `meeting_places`.

    >>> list(runs(("XIAO", "M"))), list(runs(("X", "MING")))
    (['XIAOM'], [])
    """
    for start, joined in enumerate(given[:MOST_NAMES]):
        for part in given[start + 1 : start + _MOST_JOINED] if len(joined) > 1 else ():
            joined += part
            yield joined if len(part) == 1 else f"/{_key(joined)}"


def _spelled_alike(a: str, b: str) -> bool:
    return a == b or (abs(len(a) - len(b)) <= _MOST_SILENT and _key(a) == _key(b))


def _thinned(a: Given, b: Given, language: str) -> bool:
    """Find the later words of the shorter name among those of the longer one: "J A M" and "J M"."""
    short, long = (a, b) if len(a) < len(b) else (b, a)
    rest = iter(long[1:])
    return 1 < len(short) < len(long) and all(any(same_word(x, y, language) for y in rest) for x in short[1:])


def _rearranged(a: Given, b: Given, language: str) -> bool:
    return _flipped(a, b, language) or _headless(a, b, language) or _headless(b, a, language)


def _flipped(a: Given, b: Given, language: str) -> bool:
    """Tell "Xiao Ming" and "Ming Xiao"."""
    written = len(a) > 1 and len(b) > 1 and min(map(len, a[:2] + b[:2])) > 1
    return written and same_word(a[0], b[1], language) and same_word(a[1], b[0], language)


def _headless(a: Given, b: Given, language: str) -> bool:
    """Tell "J William" and "William"."""
    written = len(a) > 1 and len(a[1]) >= SHORTEST_PREFIX and may_be_left(b[0], language)
    return written and same_word(a[1], b[0], language) and _aligned(a[2:], b[1:], language)


def may_be_left(word: str, language: str) -> bool:
    """Tell whether a word may be the first where another was dropped; a Chinese name has no first part to drop."""
    return len(word) >= SHORTEST_PREFIX and language not in _word(word).languages


def _initials_fit(initials: Given, written: Given) -> bool:
    """Tell "XM" from "Xiaoli", whose second syllable begins with L."""
    if len(written) > 1 or len(initials) < 2 or len(initials[0]) > 1 or len(initials[1]) > 1:
        return True
    seconds = second_initials(written[0])
    return not seconds or initials[1] in seconds


@lru_cache(maxsize=2**16)
def second_initials(word: str) -> frozenset[str]:
    """Give the letters that can begin the second syllable of a Chinese word; none if it may have only one."""
    if word in _KNOWN or _SYLLABLE(word) or not _WORD_OF["chinese"](word):
        return frozenset()
    cuts = range(1, len(word))
    return frozenset(word[cut] for cut in cuts if _SYLLABLE(word[:cut]) and _WORD_OF["chinese"](word[cut:]))


@cache
def _groups() -> dict[str, frozenset[int]]:
    """Number the groups of each form, by its sound; on first use, as it takes longer than an import should."""
    groups: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(_FORMS.split(",")):
        for form in group.split():
            groups[_key(form)].add(number)
    return {form: frozenset(numbers) for form, numbers in groups.items()}


class _GivenWord(NamedTuple):
    sound: str
    groups: frozenset[int]
    languages: frozenset[str]  # whose syllables it is made of


@lru_cache(maxsize=2**18)
def _word(word: str) -> _GivenWord:
    languages = frozenset(language for language, matches in _WORD_OF.items() if matches(word))
    return _GivenWord(_key(word), _groups().get(_key(word), frozenset()), languages)


@lru_cache(maxsize=2**20)
def same_word(a: str, b: str, language: str = "") -> bool:
    """Tell whether two words can be one given name, beside a surname of this language.

    >>> [same_word("BOB", other) for other in ("B", "ROBERT", "ROB", "BILL")]
    [True, True, True, False]
    """
    if a == b:
        return True
    if len(a) > len(b):
        a, b = b, a
    if len(a) == 1:
        return len(b) > 1 and (a == b[0] or a in _OTHER_INITIALS.get(b[:2], ""))
    sound, groups, languages = _word(a)
    other_sound, other_groups, other_languages = _word(b)
    well_known = groups and other_groups
    if not well_known and language in languages and language in other_languages:
        return False
    if sound == other_sound or not groups.isdisjoint(other_groups):
        return True
    if well_known:
        return False
    if b.startswith(a) and len(a) >= SHORTEST_PREFIX:
        return True
    if a in _TWO_LETTER_INITIALS:  # "Yu." is Yuri and Iurii
        return a[1] == b[1] and (a[0] == b[0] or a[0] + b[0] in _SAME_LETTER)
    return len(a) >= _SHORTEST_SLIP and _one_slip(a, b)


def _one_slip(a: str, b: str) -> bool:
    """Tell whether one letter is wrong, missing, or swapped with its neighbour; `a` is not longer than `b`."""
    size, longer = len(a), len(b)
    if longer - size > 1 or a[0] != b[0]:
        return False
    start = 1
    while start < size and a[start] == b[start]:
        start += 1
    if longer > size:
        return a[start:] == b[start + 1 :]
    if a[start + 1 :] == b[start + 1 :]:
        return not (start == size - 1 and a[-1] in "AEIOU" and b[-1] in "AEIOU")
    return a[start + 2 :] == b[start + 2 :] and a[start : start + 2] == b[start + 1] + b[start]


class MeetingPlaces(NamedTuple):
    """Where a word waits for others and where it looks for those that wait."""

    waits: frozenset[str]
    looks: frozenset[str]


@lru_cache(maxsize=2**16)
def meeting_places(word: str) -> MeetingPlaces:
    """Give the places of a word: of two that `same_word` accepts, one looks where the other one waits.

    So few pairs have to be compared. Longer words look for the shorter ones that can stand for them, also for those
    that are joined from several (`runs`); spellings of one sound, forms of one name, and slips look for each other.
    """
    sound, groups, _ = _word(word)
    waits = {word, f"/{sound}", *map(str, groups)}
    if len(word) >= _SHORTEST_SLIP:
        waits.update(word[:cut] + word[cut + 1 :] for cut in range(1, len(word)))
    shorter = {word[:size] for size in range(1, len(word))} | {*_OTHER_INITIALS.get(word[:2], "")}
    if word[0] + "I" in _SAME_LETTER or word[0] == "I":
        shorter |= {letter + word[1:2] for letter in "IJY"}
    return MeetingPlaces(frozenset(waits), frozenset(waits | shorter))
