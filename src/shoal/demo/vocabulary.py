"""The words of the registry, with their weights: how often each is drawn relative to the others."""

from __future__ import annotations

from dataclasses import dataclass

GIVEN_NAMES = {
    "female": (
        "Ada Alma Anna Aylin Berta Clara Dana Elif Elsa Emma Frida Greta Hanna Ida Ines Jana "
        "Karin Lea Lena Maja Marta Nora Olga Paula Rosa Selma Sofia Tilda Ulla Vera Yara Zoe"
    ).split(),
    "male": (
        "Adam Anton Ali Bruno Carl David Emil Erik Felix Finn Georg Hugo Ivan Jan Jonas Karl "
        "Leon Luis Marek Max Nico Omar Otto Paul Peter Rafael Samir Simon Theo Tom Viktor Yusuf"
    ).split(),
}
FAMILY_NAMES = (
    "Adler Bauer Becker Berger Brandt Busch Demir Dietz Ebert Engel Fischer Frank Fuchs Graf Haas "
    "Hahn Heller Hofer Huber Ivanov Jansen Kaya Keller Klein Koch Kowalski Kraus Lang Lehmann "
    "Lorenz Maier Marino Meyer Moser Nowak Otto Peters Pohl Popescu Richter Roth Sauer Schmidt "
    "Schulz Seidel Simon Stein Thaler Unger Vogel Wagner Weber Winter Wolf Yilmaz Ziegler"
).split()

COUNTRIES = {
    "Europe": {
        "Central Europe": {"Germany": 52000, "Austria": 180, "Switzerland": 60, "Poland": 620},
        "Southern Europe": {
            "Italy": 420,
            "Greece": 230,
            "Spain": 130,
            "Portugal": 90,
            "Croatia": 240,
            "Malta": 1,
        },
        "Eastern Europe": {
            "Romania": 480,
            "Bulgaria": 220,
            "Ukraine": 460,
            "Hungary": 140,
            "Russia": 250,
            "Moldova": 15,
        },
        "Northern Europe": {
            "Denmark": 25,
            "Sweden": 22,
            "Ireland": 12,
            "Estonia": 5,
            "Iceland": 1,
        },
    },
    "Asia": {
        "Western Asia": {"Turkey": 1250, "Syria": 720, "Iraq": 210, "Lebanon": 35, "Georgia": 30},
        "Southern Asia": {"Afghanistan": 310, "Iran": 130, "India": 160, "Nepal": 10, "Bhutan": 1},
        "Eastern Asia": {"China": 110, "Vietnam": 95, "Philippines": 30, "Japan": 20},
    },
    "Africa": {
        "Northern Africa": {"Morocco": 75, "Tunisia": 40, "Egypt": 30},
        "Sub-Saharan Africa": {
            "Nigeria": 70,
            "Eritrea": 75,
            "Ghana": 35,
            "Cameroon": 25,
            "Lesotho": 1,
        },
    },
    "Americas and Oceania": {
        "Americas": {"United States": 85, "Brazil": 45, "Colombia": 20, "Cuba": 8, "Belize": 1},
        "Oceania": {"Australia": 8, "New Zealand": 3, "Tonga": 1},
    },
}

OCCUPATIONS = {
    "not employed": {"homemaker": 300, "between jobs": 420, "student": 160, "apprentice": 90},
    "office and trade": {
        "clerk": 760,
        "shop assistant": 640,
        "accountant": 260,
        "manager": 300,
        "lawyer": 70,
        "software developer": 310,
    },
    "health and teaching": {
        "nurse": 420,
        "carer": 330,
        "physician": 110,
        "teacher": 360,
        "kindergarten teacher": 220,
        "midwife": 8,
    },
    "industry and crafts": {
        "mechanic": 400,
        "electrician": 260,
        "carpenter": 150,
        "factory worker": 620,
        "builder": 350,
        "farmer": 110,
        "gardener": 130,
        "forester": 14,
        "beekeeper": 1,
        "organ builder": 1,
    },
    "services and transport": {
        "driver": 420,
        "cleaner": 380,
        "cook": 240,
        "waiter": 200,
        "hairdresser": 150,
        "police officer": 90,
        "lighthouse keeper": 1,
    },
}

OUTSIDE_WORK = {"not employed": ("child", "pupil", "pensioner")}
"""Occupations that age decides, so that no weight is needed."""


@dataclass(frozen=True)
class Diagnosis:
    """A diagnosis: its code and name, the ward, and how often children, adults and old people
    come with it; `sex` where only one has it."""

    text: str
    ward: str
    child: int
    adult: int
    old: int
    sex: str | None = None


DIAGNOSES = (
    Diagnosis("A09 Gastroenteritis", "internal medicine", 90, 40, 50),
    Diagnosis("A15 Tuberculosis of the lung", "pneumology", 1, 3, 2),
    Diagnosis("B20 HIV disease", "internal medicine", 0, 6, 1),
    Diagnosis("C34 Malignant neoplasm of the lung", "pneumology", 0, 12, 50),
    Diagnosis("C50 Malignant neoplasm of the breast", "gynaecology", 0, 40, 45, "female"),
    Diagnosis("C61 Malignant neoplasm of the prostate", "urology", 0, 10, 70, "male"),
    Diagnosis("D66 Haemophilia A", "internal medicine", 2, 1, 0, "male"),
    Diagnosis("E10 Type 1 diabetes mellitus", "internal medicine", 25, 15, 5),
    Diagnosis("E11 Type 2 diabetes mellitus", "internal medicine", 1, 50, 110),
    Diagnosis("F10 Disorders due to alcohol", "psychiatry", 2, 75, 20),
    Diagnosis("F20 Schizophrenia", "psychiatry", 1, 22, 5),
    Diagnosis("F32 Depressive episode", "psychiatry", 15, 85, 30),
    Diagnosis("G40 Epilepsy", "neurology", 40, 30, 25),
    Diagnosis("I10 Essential hypertension", "internal medicine", 0, 45, 95),
    Diagnosis("I21 Acute myocardial infarction", "cardiology", 0, 40, 120),
    Diagnosis("I48 Atrial fibrillation", "cardiology", 0, 25, 130),
    Diagnosis("I50 Heart failure", "cardiology", 1, 15, 190),
    Diagnosis("I63 Cerebral infarction", "neurology", 0, 20, 125),
    Diagnosis("J06 Acute upper respiratory infection", "paediatrics", 150, 15, 8),
    Diagnosis("J18 Pneumonia, unspecified", "pneumology", 60, 30, 120),
    Diagnosis("J45 Asthma", "pneumology", 55, 20, 10),
    Diagnosis("K35 Acute appendicitis", "surgery", 80, 45, 10),
    Diagnosis("K40 Inguinal hernia", "surgery", 20, 50, 50, "male"),
    Diagnosis("K80 Gallstones", "surgery", 2, 75, 60),
    Diagnosis("M16 Osteoarthritis of the hip", "orthopaedics", 0, 20, 110),
    Diagnosis("M54 Back pain", "orthopaedics", 3, 95, 70),
    Diagnosis("N20 Kidney stones", "urology", 2, 60, 25),
    Diagnosis("O80 Single spontaneous delivery", "gynaecology", 1, 330, 0, "female"),
    Diagnosis("S06 Concussion", "surgery", 120, 40, 45),
    Diagnosis("S72 Fracture of the femur", "orthopaedics", 8, 12, 130),
)
