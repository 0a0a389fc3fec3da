/** What this service itself keeps; people's rows are in PostgreSQL. */
export interface Tables {
  /** Secrets made here, sealed by the vault. */
  secrets: { name: string; sealed: string };
}
