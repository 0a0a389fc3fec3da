import type { GatewayState } from '../../contracts/gateway/api.ts';
import type { PresentedCertificate } from './certificates.ts';

/** Returns the certificate as shown on the page, with the fingerprint of its authority. */
export function toCertificateState(
  certificate: PresentedCertificate | undefined,
  fingerprint = '',
): GatewayState['certificate'] {
  if (certificate === undefined || certificate.source === 'public') return null;
  const { source, names, expiresAt } = certificate;
  return { source, names: [...names], expiresAt, fingerprint };
}
