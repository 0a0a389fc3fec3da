import { AppSession, AppSignInProvider, appSignInPaths } from '../../../services/contracts/gateway/app-sign-in.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { sessionSecret } from '../api/session-secret.ts';

/** Address that begins the sign-in at the identity provider of the gateway. */
export const providerSignInHref = `${appSignInPaths.begin}?to=${encodeURIComponent(appSignInPaths.returnPage)}`;

/** Returns the name of the identity provider; undefined without one, and where the page is not reached by the gateway. */
export async function findSignInProvider(): Promise<string | undefined> {
  // The gateway serves the pages over HTTPS.
  if (location.protocol !== 'https:') return undefined;
  const parsed = AppSignInProvider.safeParse(await request(appSignInPaths.provider, 'GET'));
  return parsed.success ? (parsed.data.name ?? undefined) : undefined;
}

/** Takes over the session after the sign-in at the provider. Without one, the page shows the sign-in. */
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
