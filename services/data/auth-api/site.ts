import type { IncomingMessage } from 'node:http';
import type { Context } from '../../contracts/service.ts';
import { isAllowedRedirect } from './domain/redirects.ts';
import type { AuthCall } from './http/auth-call.ts';
import type { AuthDependencies, AuthSettings } from './dependencies.ts';

export const authPrefix = '/auth/v1';

/**
 * Returns the base URL for clients. Mails contain it, and a forwarded host may be chosen by the client, so it is used
 * only when the settings contain that host.
 */
export function getBaseUrl(
  { publicUrl }: Pick<Context, 'publicUrl'>,
  { externalUrl, siteUrl, redirectUrls }: AuthSettings,
  request: IncomingMessage | undefined,
): string {
  if (externalUrl !== '') return `${externalUrl.replace(/\/+$/, '')}${authPrefix}`;
  const local = publicUrl() ?? 'http://127.0.0.1';
  const forwarded = URL.parse((request === undefined ? undefined : publicUrl(request)) ?? local);
  const requestHost = request?.headers.host;
  if (
    forwarded === null ||
    requestHost === undefined ||
    forwarded.host === getHost(`${forwarded.protocol}//${requestHost}`)
  )
    return `${forwarded?.origin ?? local}${authPrefix}`;
  const isKnown = [siteUrl, ...redirectUrls].some((address) => getHost(address) === forwarded.host);
  return `${isKnown ? forwarded.origin : `${forwarded.protocol}//${requestHost}`}${authPrefix}`;
}

function getHost(address: string): string | undefined {
  return URL.parse(address)?.host;
}

/** Returns the default target of links: the setting, otherwise the address of this service. */
export function getSiteUrl({ settings }: Pick<AuthDependencies, 'settings'>, { base }: Pick<AuthCall, 'base'>): string {
  return settings.siteUrl === '' ? new URL(base).origin : settings.siteUrl;
}

/** Returns the target of a link: the requested one when it is allowed, otherwise the site, without an error. */
export function getRedirectTarget(
  parts: Pick<AuthDependencies, 'settings'>,
  call: AuthCall,
  requested = call.redirectTo,
): string {
  const site = getSiteUrl(parts, call);
  const { redirectUrls } = parts.settings;
  const candidates = [requested, call.request.headers.referer ?? ''];
  return candidates.find((candidate) => candidate !== '' && isAllowedRedirect(candidate, site, redirectUrls)) ?? site;
}
