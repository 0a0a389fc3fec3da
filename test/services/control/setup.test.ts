import { expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { openTestHost } from '../../support/host.ts';

it('creates the first administrator once, with the one-time code, and signs in', async () => {
  await using host = await openTestHost({ services: [control], administrator: false });
  const url = host.url('control');
  const setUp = (code: string, password: string): Promise<Response> =>
    fetch(`${url}/api/setup`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code, name: 'ada', password }),
    });
  const code = new URL((await host.host.setupUrl()) ?? '').searchParams.get('code') ?? '';
  expect(await (await fetch(`${url}/api/session`)).json()).toMatchObject({ account: null, setupNeeded: true });

  expect((await setUp('guess', 'long enough')).status).toBe(403);
  expect((await setUp(code, 'short')).status).toBeGreaterThanOrEqual(400);
  const response = await setUp(code, 'long enough');
  expect(response.status).toBe(200);
  const { session: secret } = (await response.json()) as { session: string };
  const session = await fetch(`${url}/api/session`, { headers: { 'Homeport-Session': secret } });
  expect(await session.json()).toMatchObject({ account: { name: 'ada', role: 'admin' }, setupNeeded: false });
  expect((await setUp(code, 'long enough')).status).toBe(409);
});
