"""The papers and lectures that learners and statements cite, by the short names that begin the statements' ids."""

BMN = "Bassily, Moran, Nandi, Learning from mixtures of private and public populations (2020)"
BMNS = "Beimel, Moran, Nissim, Stemmer, Private center points and learning of halfspaces (2019)"
KMMS = "Kaplan, Mansour, Matias and Stemmer, Differentially Private Learning of Geometric Concepts, ICML 2019"
NIS = "Private Learning 1, Bar-Ilan Winter School on Differential Privacy 2017 (slides)"
OURS = "Ours"
STE = "Lecture 12: Private PAC Learning (lecture notes, in Hebrew)"
