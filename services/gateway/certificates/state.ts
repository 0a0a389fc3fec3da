import type { GatewayState } from '../../contracts/gateway/api.ts';
import type { Shown } from './certificates.ts';

/** Returns the certificate as shown on the page, with the fingerprint of its authority. */
export function certificateState(shown: Shown | undefined, fingerprint = ''): GatewayState['certificate'] {
  if (shown === undefined) return null;
  const { source, names, expiresAt } = shown;
  return { source, names: [...names], expiresAt, fingerprint };
}
