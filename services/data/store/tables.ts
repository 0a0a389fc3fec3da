/** Tables of this service itself; the rows of projects are in PostgreSQL. */
export interface Tables {
  /** Created secrets, sealed by the vault. */
  secrets: { name: string; sealed: string };
  /** Named statements of accounts; `changed_at` in ms since the epoch. */
  saved_queries: { id: string; account: string; name: string; text: string; changed_at: number };
  /** Overview of the databases at the last look, as JSON; `taken_at` in ms since the epoch. */
  snapshots: { id: string; taken_at: number; content: string };
}
