/** Returns a valid declared domain. */
export const registration = (domain: string) => ({
  domain,
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {
    first_name: "Ana",
    last_name: "Acme",
    email: "ana@acme.example",
    phone: "+995 555 000000",
    address: "1 Rustaveli Ave",
    city: "Tbilisi",
    postcode: "0108",
    country: "GE",
  },
});
