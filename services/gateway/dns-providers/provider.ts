/** TXT record of a challenge. */
export interface TxtRecord {
  /** Complete name without a trailing dot: `_acme-challenge.home.example.org`. */
  readonly name: string;
  readonly value: string;
}

/** Creates and deletes TXT records of a domain. Both operations can be repeated. */
export interface DnsProvider {
  /** The provider stores only one TXT record of a name. */
  readonly isSingleValue?: true;
  /** @throws DnsProviderError */
  create(record: TxtRecord, signal: AbortSignal): Promise<void>;
  /** Deletes this value and preserves other values of the name. */
  remove(record: TxtRecord, signal: AbortSignal): Promise<void>;
}

/**
 * Cause of a provider's failure: `token`: the credentials were rejected; `zone`: the account has no zone for the name;
 * `failed`: anything else.
 */
export type DnsProviderErrorKind = 'token' | 'zone' | 'failed';

/** Failure of a DNS provider. */
export class DnsProviderError extends Error {
  readonly kind: DnsProviderErrorKind;
  /** Reason of the provider, without credentials. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(kind: DnsProviderErrorKind, reason: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(reason, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Returns the names of the zones that can contain a name, longest first, without the top-level domain. */
export function listZoneNames(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

/** Returns the name relative to its zone; `@` for the zone itself. */
export function toRelativeName(name: string, zone: string): string {
  return name === zone ? '@' : name.slice(0, -zone.length - 1);
}
