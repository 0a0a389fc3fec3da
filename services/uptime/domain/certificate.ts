import type { CertificateChain } from '../../contracts/uptime/views.ts';

/** Lowest threshold that was reported for each certificate, by fingerprint. */
export type ToldThresholds = Readonly<Record<string, number>>;

export interface DueWarning {
  readonly subject: string;
  readonly fingerprint256: string;
  readonly validTo: number;
  /** Whole days, rounded toward zero: 0 on the last day, negative after expiry. */
  readonly daysRemaining: number;
  /** Threshold in days that was reached; -1 after expiry. */
  readonly threshold: number;
}

const day = 86_400_000;
/** Threshold of an expired certificate, lower than all others. */
const expired = -1;

export function daysUntil(validTo: number, now: number): number {
  return Math.trunc((validTo - now) / day);
}

/** Returns the remaining days of the server certificate. */
export function certificateDays(chain: CertificateChain | undefined, now: number): number | null {
  const leaf = chain?.chain[0];
  return leaf === undefined ? null : daysUntil(leaf.validTo, now);
}

/**
 * Returns the warnings to send: at most one per certificate, for the lowest threshold that was reached. Root
 * certificates are ignored. Certificates that are no longer in the chain are removed from `notified`.
 */
export function dueWarnings(
  chain: CertificateChain,
  thresholds: readonly number[],
  told: ToldThresholds,
  now: number,
): { readonly due: readonly DueWarning[]; readonly told: ToldThresholds } {
  const due: DueWarning[] = [];
  const kept: Record<string, number> = {};
  for (const { subject, fingerprint256, validTo, kind } of chain.chain) {
    if (kind === 'root CA') continue;
    const before = told[fingerprint256];
    if (before !== undefined) kept[fingerprint256] = before;
    const daysRemaining = daysUntil(validTo, now);
    const passed = thresholds.filter((threshold) => daysRemaining <= threshold);
    const threshold = validTo <= now ? expired : passed.length === 0 ? undefined : Math.min(...passed);
    if (threshold === undefined || (before !== undefined && before <= threshold)) continue;
    kept[fingerprint256] = threshold;
    due.push({ subject, fingerprint256, validTo, daysRemaining, threshold });
  }
  return { due, told: kept };
}
