/** What this service itself keeps; people's rows are in PostgreSQL. */
export interface Tables {
  /** Secrets made here, sealed by the vault. */
  secrets: { name: string; sealed: string };
  /** Statements that an account keeps under a name; `changed_at` in ms since the epoch. */
  saved_queries: { id: string; account: string; name: string; text: string; changed_at: number };
}
