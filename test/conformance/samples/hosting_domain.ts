import type { Sample } from "../sample.ts";

const contact = {
  first_name: "Ana",
  last_name: "Sample",
  email: "ana@sample.example",
  phone: "+995 555 000000",
  address: "1 Rustaveli Ave",
  city: "Tbilisi",
  postcode: "0108",
  country: "GE",
};

export const sample: Sample = {
  address: "hosting_domain.sample",
  collection: "domains",
  createPath: "/domains",
  attributes: {
    domain: "sample.example",
    years: 1,
    currency: "USD",
    nameserver_mode: "default",
    registrant_contact: contact,
  },
  others: {
    domain: "other.example",
    years: 2,
    currency: "EUR",
    nameserver_mode: "custom",
    registrant_contact: { ...contact, first_name: "Nino" },
  },
};
