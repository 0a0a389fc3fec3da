import type { CertificateChain } from '../../contracts/uptime/views.ts';

/** Lowest threshold that was reported for each certificate, by fingerprint. */
export type NotifiedThresholds = Readonly<Record<string, number>>;

export interface DueWarning {
  readonly subject: string;
  readonly fingerprint256: string;
  readonly validTo: number;
  /** Whole days, rounded toward zero: 0 on the last day, negative after expiry. */
  readonly daysRemaining: number;
  /** Threshold in days that was reached; -1 after expiry. */
  readonly threshold: number;
}

const dayMs = 86_400_000;
/** Threshold of an expired certificate, lower than all others. */
const expiredThreshold = -1;

export function getDaysUntil(validTo: number, now: number): number {
  return Math.trunc((validTo - now) / dayMs);
}

/** Returns the remaining days of the server certificate. */
export function getCertificateDays(chain: CertificateChain | undefined, now: number): number | null {
  const leaf = chain?.chain[0];
  return leaf === undefined ? null : getDaysUntil(leaf.validTo, now);
}

/**
 * Returns the warnings to send: at most one per certificate, for the lowest threshold that was reached. Root
 * certificates are ignored. Certificates that are no longer in the chain are removed from `notified`.
 */
export function findDueWarnings(
  chain: CertificateChain,
  thresholds: readonly number[],
  notified: NotifiedThresholds,
  now: number,
): { readonly due: readonly DueWarning[]; readonly notified: NotifiedThresholds } {
  const due: DueWarning[] = [];
  const nextNotified: Record<string, number> = {};
  for (const { subject, fingerprint256, validTo, kind } of chain.chain) {
    if (kind === 'root CA') continue;
    const previous = notified[fingerprint256];
    if (previous !== undefined) nextNotified[fingerprint256] = previous;
    const daysRemaining = getDaysUntil(validTo, now);
    const passedThresholds = thresholds.filter((threshold) => daysRemaining <= threshold);
    const threshold =
      validTo <= now ? expiredThreshold : passedThresholds.length === 0 ? undefined : Math.min(...passedThresholds);
    if (threshold === undefined || (previous !== undefined && previous <= threshold)) continue;
    nextNotified[fingerprint256] = threshold;
    due.push({ subject, fingerprint256, validTo, daysRemaining, threshold });
  }
  return { due, notified: nextNotified };
}
