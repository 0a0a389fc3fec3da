import { isAllowedRedirect } from './domain/redirects.ts';
import type { Call } from './http/call.ts';
import type { AuthParts } from './parts.ts';

/** Where links lead when nothing else is asked for: the setting, else where this service itself is reached. */
export function siteOf({ settings }: Pick<AuthParts, 'settings'>, { base }: Pick<Call, 'base'>): string {
  return settings.siteUrl === '' ? new URL(base).origin : settings.siteUrl;
}

/** Where a link leads: what was asked for where that is allowed, else the site, without a word. */
export function redirectOf(parts: Pick<AuthParts, 'settings'>, call: Call, asked = call.redirectTo): string {
  const site = siteOf(parts, call);
  const { redirectUrls } = parts.settings;
  const wishes = [asked, call.request.headers.referer ?? ''];
  return wishes.find((wish) => wish !== '' && isAllowedRedirect(wish, site, redirectUrls)) ?? site;
}
