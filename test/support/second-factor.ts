import type { CDPSession, Page } from 'playwright-core';
import { fromBase32, generateCode, toTimeStep } from '../../services/kit/totp.ts';

/** Returns the code that an authenticator app shows for a secret in base32; `step` 1 is that of the next half minute. */
export function readCode(secret: string, step = 0, now = Date.now()): string {
  return generateCode(fromBase32(secret), toTimeStep(now) + step);
}

/** Virtual security key that confirms every request, in Chromium (WebAuthn domain of its protocol). */
export interface VirtualAuthenticator {
  readonly session: CDPSession;
  readonly id: string;
  credentials(): Promise<number>;
  /** Declines all further requests. */
  decline(): Promise<void>;
}

/** Adds a virtual authenticator to the browser of a page. */
export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId: id } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    session,
    id,
    async credentials() {
      return (await session.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials.length;
    },
    async decline() {
      await session.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false });
      await session.send('WebAuthn.clearCredentials', { authenticatorId: id });
    },
  };
}
