/** Validity of a certificate in ms since the epoch. */
export interface Validity {
  readonly madeAt: number;
  readonly expiresAt: number;
}

const hourMs = 3_600_000;
/** Delays after failed attempts in ms. Let's Encrypt allows five failed validations of a name per hour. */
const backoffMs = [5 * 60_000, 30 * 60_000, 2 * hourMs, 12 * hourMs, 24 * hourMs] as const;
/** Attempts without a certificate, after which the owner has to act. */
const maxFirstAttempts = 8;
/** Time after the end of a certificate in which its renewal is still tried. */
const renewalGraceMs = 7 * 24 * hourMs;
/** Share of the lifetime over which renewals are spread, so that hosts do not renew at the same time. */
const jitterShare = 1 / 20;
/** Time before the end at which a warning is sent. */
const warningMs = 14 * 24 * hourMs;

/** Returns when a certificate is renewed: after two thirds of its lifetime, varied by `random` between 0 and 1. */
export function getRenewalTime({ madeAt, expiresAt }: Validity, random: number): number {
  const lifetimeMs = expiresAt - madeAt;
  return Math.round(madeAt + lifetimeMs * (2 / 3 - jitterShare * random));
}

/**
 * Returns the time of the next attempt after consecutive failures; undefined when no further one is made.
 * @param random Between 0 and 1, for jitter
 */
export function getRetryTime(
  {
    now,
    failures,
    retryAfterMs = 0,
  }: { readonly now: number; readonly failures: number; readonly retryAfterMs?: number | undefined },
  certificate: Pick<Validity, 'expiresAt'> | undefined,
  random: number,
): number | undefined {
  const isOver =
    certificate === undefined ? failures >= maxFirstAttempts : now > certificate.expiresAt + renewalGraceMs;
  if (isOver) return undefined;
  const delayMs = backoffMs[Math.min(failures, backoffMs.length) - 1] ?? backoffMs[0];
  return now + Math.max(retryAfterMs, Math.round(delayMs * (1 + random / 5)));
}

/** Returns whether a warning about the end of a certificate is due. Short-lived ones warn after four fifths. */
export function isExpiringSoon({ madeAt, expiresAt }: Validity, now: number): boolean {
  return now >= expiresAt - Math.min(warningMs, (expiresAt - madeAt) / 5);
}
