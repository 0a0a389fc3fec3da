import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { addHeaders } from '../../kit/http/respond.ts';
import { removeCredentials } from '../domain/without-credentials.ts';
import { decodeAddressSegment } from '../profiles/address-segment.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import { parseBasicAuthorization, sendJson } from './response.ts';
import { withThrottle } from './users.ts';

/**
 * Answers `/export` with the configuration as a file. Credentials are only included when the client authenticates with
 * the password.
 */
export async function handleExport(
  { profiles, context }: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const basic = parseBasicAuthorization(request);
  const user = decodeAddressSegment(url.searchParams.get('userId') ?? '');
  if (basic === undefined && user === undefined)
    throw new Problem('addons.unauthorized', 401, 'Basic authorization or the parameter userId is required.');
  const includeCredentials = url.searchParams.get('includeCredentials') === 'true';
  if (includeCredentials && basic === undefined)
    throw new Problem('addons.unauthorized', 401, 'The password is required to export credentials.');
  const profile =
    basic === undefined
      ? await profiles.openSealed(user?.uuid ?? '', user?.encryptedPassword ?? '')
      : await withThrottle(context, request, basic, () => profiles.getStored(basic.name, basic.password));
  const { uuid: _uuid, importNotes: _notes, ...config } = profile.ownConfig;
  if (includeCredentials) {
    const event = { event: 'data_exported', account: profile.uuid } as const;
    context.accounts.record({ ...event, detail: 'configuration with credentials' });
  }
  const name = (profile.ownConfig.addonName ?? 'addons').replaceAll(/[^A-Za-z0-9 _-]/g, '').trim() || 'addons';
  addHeaders(response, {
    'Content-Disposition': `attachment; filename="${name}-config.json"`,
    'Cache-Control': 'no-store',
  });
  await sendJson(request, response, JSON.stringify(includeCredentials ? config : removeCredentials(config), null, 2));
}
