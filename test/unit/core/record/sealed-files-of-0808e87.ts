/** What 0808e87 wrote with a key of 32 bytes of 1: a state with `hosting_service.a`, and a journal that records b and removes a. */
export const FORMER_STATE = [
  "{",
  '  "hostform_encryption": 1,',
  '  "lineage": "old-1",',
  '  "serial": 1,',
  '  "key": {',
  '    "from": "key",',
  '    "id": "106092650971b962"',
  "  },",
  '  "data": "f2T1/ydiUam0rYUAXCTlLh7TFtJGRWlp9TcBh02iNmOgbG5qH26Ua+B3kXhCfiRQiX8nHuzdZBCiWNPDfHdPevlmRQvQ3OmO5MIV4BUS63EU+0g7/A9G2xQBNxJShLbtBRC44KpHcajTbbN1hoauN0C5gIrQCLQCIvWhbSsEl4tPopxyIwsDCG4wIwlKo47yYTUEzeA/qU7KsphIzAsev/IikQrDx/tlzMCvQmDoJNzA67z3+MwkUr1L/Bi/nc4GJL038Nw/vie9Y8bEZ0zP+6288eL1i5B0AOmNSasNpFBJCgv2W8FXTKP3cPYJ+J5j7e1CrwkJEu52Gs9qLARuiLg+ypDHiKDRrystXbHENpM+jt8MxTfzQtCzIxWkaesBE6+iAVn+Evae/Nkmi4IFzd8GMFifBpMjFhDmByGZM6IcUd6SwBRT+s/fCdMP4EffoodNnnGzAyLx1GJya2bgnYtlkCGnjgY249P3udxjPf1CrPHEes3zzWMLL9gbzO3UH4YFkiS2j3TB668q7T+ou0TK7Xpl7z/m4rr4+uJQUCy3hCu3zv1/MvpUiEnNqInYONEemf1nPTvkcHM+ndKB+U7qt1Eusmsjp9aYzyryG4g9wIjctZ63M++AEf4HTao6ZOLoCBm24UnO5RXl3gfWcUQigYMJardnLPEEmk6kuNRIELKlvkbvupw="',
  "}",
  "",
].join("\n");

export const FORMER_JOURNAL = [
  'w1ZIVZZOXWMBRr72hEeKKA 88 {"journal":1,"lineage":"old-1","serial":1,"seal":{"from":"key","id":"106092650971b962"}}',
  "VS1T2j3K8Btf2v2Piq8PLw 124 OCVtrpYFt75pX8zF/zUL8rsr/j3N/SOU88GGjQ0K5aKRsHcP5CJJxsb8/Wdfcr4TWFc00ZP4Pb/wN/i2bT3YqU6oEBRznsqa1I9ThT9x6YbZ8+00uuSkUprZNpSg",
  "KnFalnlFMoszKRsrgBaE1A 80 XGTTYtzQjjTpDrG4vJTkK7H609jRkNek9bdM0d9ayUc4Mqi7VwOcoWJ1sfCm2ua6dNpdBm5Du1fIWL72",
  "",
].join("\n");
