/* Sphinx puts this into its search: pages that explain a word stand above code that is named after it. */
var Scorer = {
  objNameMatch: 4,
  objPartialMatch: 1,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
