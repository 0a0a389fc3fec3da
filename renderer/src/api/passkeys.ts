import {
  startAuthentication,
  startRegistration,
  WebAuthnError,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { PasskeyResponse } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** Whether the browser can use passkeys here: on secure pages, and only where the host is a name. */
export function supportsPasskeys(): boolean {
  const { hostname } = location;
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[');
  return window.isSecureContext && !isAddress && 'PublicKeyCredential' in window;
}

/** Asks the authenticator for a new passkey. @throws Problem with a sentence for people */
export async function createPasskey(options: Record<string, unknown>): Promise<PasskeyResponse> {
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  return explained(async () => ({ ...(await startRegistration({ optionsJSON })) }) as unknown as PasskeyResponse);
}

/** Asks the authenticator to prove a passkey. @throws Problem with a sentence for people */
export async function createProof(options: Record<string, unknown>): Promise<PasskeyResponse> {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  return explained(async () => ({ ...(await startAuthentication({ optionsJSON })) }) as unknown as PasskeyResponse);
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isKnown = cause instanceof WebAuthnError && cause.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';
    const detail = isKnown ? 'This device has a passkey for this account already.' : 'The passkey was not confirmed.';
    throw new Problem('accounts.passkey_not_confirmed', 400, detail, { cause });
  }
}
