import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { withoutCredentials } from '../domain/without-credentials.ts';
import type { RouteParts } from './route-dependencies.ts';
import { basicOf, sendJson } from './response.ts';
import { throttled } from './users.ts';

/**
 * Answers `/export` with the configuration as a file. Credentials are only included when the client authenticates with
 * the password.
 */
export async function exportRoute(
  { profiles, context }: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const basic = basicOf(request);
  const user = profiles.readSegment(url.searchParams.get('userId') ?? '');
  if (basic === undefined && user === undefined)
    throw new Problem('addons.unauthorized', 401, 'Basic authorization or userId says whose configuration this is.');
  const whole = url.searchParams.get('includeCredentials') === 'true';
  if (whole && basic === undefined)
    throw new Problem('addons.unauthorized', 401, 'Credentials are given out for the password alone.');
  const profile =
    basic === undefined
      ? await profiles.openSealed(user?.uuid ?? '', user?.encryptedPassword ?? '')
      : await throttled(context, request, basic, () => profiles.own(basic.name, basic.password));
  const { uuid: _uuid, importNotes: _notes, ...config } = profile.own;
  if (whole) {
    const event = { event: 'data_exported', account: profile.uuid } as const;
    context.accounts.record({ ...event, detail: 'configuration with credentials' });
  }
  const name = (profile.own.addonName ?? 'addons').replaceAll(/[^A-Za-z0-9 _-]/g, '').trim() || 'addons';
  response.setHeader('Content-Disposition', `attachment; filename="${name}-config.json"`);
  response.setHeader('Cache-Control', 'no-store');
  await sendJson(request, response, JSON.stringify(whole ? config : withoutCredentials(config), null, 2));
}
