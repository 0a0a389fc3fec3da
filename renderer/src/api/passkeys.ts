import * as m from '#messages/state';
import {
  startAuthentication,
  startRegistration,
  WebAuthnError,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { PasskeyResponse } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** True where the browser can use passkeys: on secure pages whose host is a name and not an IP address. */
export function supportsPasskeys(): boolean {
  const { hostname } = location;
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[');
  return window.isSecureContext && !isAddress && 'PublicKeyCredential' in window;
}

/**
 * Requests a new passkey from the authenticator.
 * @throws Problem with a message for the user.
 */
export async function createPasskey(options: Record<string, unknown>): Promise<PasskeyResponse> {
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  return withPasskeyError(
    async () => ({ ...(await startRegistration({ optionsJSON })) }) as unknown as PasskeyResponse,
  );
}

/**
 * Requests a proof of a passkey from the authenticator.
 * @throws Problem with a message for the user.
 */
export async function createProof(options: Record<string, unknown>): Promise<PasskeyResponse> {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  return withPasskeyError(
    async () => ({ ...(await startAuthentication({ optionsJSON })) }) as unknown as PasskeyResponse,
  );
}

async function withPasskeyError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isRegistered = cause instanceof WebAuthnError && cause.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';
    const detail = isRegistered ? m.passkeyExists() : m.passkeyNotConfirmed();
    throw new Problem('accounts.passkey_not_confirmed', 400, detail, { cause });
  }
}
