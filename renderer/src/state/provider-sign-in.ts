import { appSignInPaths } from '../../../services/contracts/gateway/app-sign-in-paths.ts';
import { AppSession, AppSignInProvider } from '../../../services/contracts/gateway/app-sign-in.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { sessionSecret } from '../api/session-secret.ts';

/** Identity provider of the gateway. */
export interface SignInProvider {
  readonly name: string;
  /** Address that begins the sign-in. */
  readonly href: string;
}

/**
 * Returns the identity provider; undefined without one, and where the page is not reached by the gateway.
 * @public Imported when the sign-in is shown.
 */
export async function findSignInProvider(): Promise<SignInProvider | undefined> {
  // The gateway serves the pages over HTTPS.
  if (location.protocol !== 'https:') return undefined;
  const parsed = AppSignInProvider.safeParse(await request(appSignInPaths.provider, 'GET'));
  if (!parsed.success || parsed.data.name === null) return undefined;
  const { begin, returnPage } = appSignInPaths;
  return { name: parsed.data.name, href: `${begin}?to=${encodeURIComponent(returnPage)}` };
}

/**
 * Takes over the session after the sign-in at the provider. Without one, the page shows the sign-in.
 * @public Imported when the browser returns from the provider.
 */
export async function takeProviderSession(): Promise<void> {
  const parsed = AppSession.safeParse(await request(appSignInPaths.session, 'POST'));
  if (parsed.success) sessionSecret.store(parsed.data.session);
}

/** Returns the JSON of a reply; undefined for other replies and without a connection. */
async function request(path: string, method: 'GET' | 'POST'): Promise<unknown> {
  try {
    const reply = await fetch(path, { method, headers: { Accept: 'application/json' }, redirect: 'error' });
    return reply.ok ? parseJson(await reply.text()) : undefined;
  } catch {
    return undefined;
  }
}
