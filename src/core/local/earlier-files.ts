/** The list of the notes that the Terraform provider keeps about objects of one type. */
export const entriesOf = (account: string, project: string, type: string): string =>
  JSON.stringify(["entries", account, project, type]);
