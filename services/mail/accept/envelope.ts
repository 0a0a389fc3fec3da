/** Addresses of a mail as given in the SMTP dialog; the header may name others. */
export interface Envelope {
  /** Empty for bounces. */
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly remoteAddress: string;
}
