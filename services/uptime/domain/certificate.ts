import type { CertificateChain } from '../../contracts/uptime/views.ts';

/** What was told of the certificates of a monitor: the lowest threshold by fingerprint. */
export type ToldThresholds = Readonly<Record<string, number>>;

export interface DueWarning {
  readonly subject: string;
  readonly fingerprint256: string;
  readonly validTo: number;
  /** Whole days, cut off; 0 on the last day, negative after it. */
  readonly daysRemaining: number;
  /** The days that were passed; -1: it has expired. */
  readonly threshold: number;
}

const day = 86_400_000;
/** Below every threshold of days: it has ended. */
const expired = -1;

export function daysUntil(validTo: number, now: number): number {
  return Math.trunc((validTo - now) / day);
}

/** Days of the server's own certificate. */
export function certificateDays(chain: CertificateChain | undefined, now: number): number | null {
  const leaf = chain?.chain[0];
  return leaf === undefined ? null : daysUntil(leaf.validTo, now);
}

/**
 * What has to be told: one warning a certificate and threshold, and the lowest that was passed speaks for those above it.
 * Roots are their machine's affair. What was told of certificates that are gone is forgotten.
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
