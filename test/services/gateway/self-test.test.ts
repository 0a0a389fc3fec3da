import * as texts from '#messages/gateway-texts';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SelfTest, SignedInDevice } from '../../../services/contracts/gateway/api.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, phoneAddress, type Home } from '../../support/gateway/phone.ts';
import { admin } from '../../support/host.ts';
import { freePort } from '../../support/free-port.ts';
import { createServer } from 'node:net';

const lamp = fixtureService('lamp', () => ({
  http: (_request, response) => void response.writeHead(200).write('on\n'),
}));
const services = [push, lamp, control, gateway];
let home: Home;
beforeAll(async () => {
  home = await openHome({ services, settings: { shared: ['push', 'lamp'] } });
});
afterAll(() => home[Symbol.asyncDispose]());
const test = (home: Home): Promise<SelfTest> =>
  api<SelfTest>(home.host.url('control'), '/api/gateway/test', { method: 'POST' });

describe('network self-test', () => {
  it('reports reachability and connections of other devices', async () => {
    const before = await openHome({ services, settings: { shared: ['push'] } });
    await using open = before;
    // The helper downloads the certificate like a device.
    const { checks, visitors } = await test(open);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ text }) => text)).toEqual([
      texts.testTlsWorks({ url: `https://${lan}:${open.port}` }),
      expect.stringContaining(texts.testTrustPageWorks({ url: `http://${lan}:` }).slice(0, -1)),
      texts.testNamesNotAnnounced(),
      texts.testDeviceConnected({ address: phoneAddress }),
    ]);
    expect(visitors).toEqual([expect.objectContaining({ address: phoneAddress, letIn: true })]);
  });

  it('reports missing shares, other networks and used ports', async () => {
    await using none = await openHome({ services });
    expect(await test(none)).toEqual({
      checks: [{ ok: false, text: texts.testNothingShared() }],
      visitors: [],
    });

    const occupied = createServer().listen(await freePort(), lan);
    await once(occupied, 'listening');
    const { port } = occupied.address() as { port: number };
    const environment = { HOMEPORT_PORT_GATEWAY: String(port), GATEWAY_NETWORKS: '127.0.0.2/32' };
    await using blocked = await openHome({ services, environment });
    await blocked.change({ shared: ['push'] });
    await expect(blocked.ask(`https://${lan}:${blocked.host.port('push')}/v1/health`)).rejects.toThrow();
    const { checks } = await test(blocked);
    occupied.close();
    const wrong = checks.filter(({ ok }) => !ok).map(({ text }) => text);
    expect(wrong).toEqual([
      texts.testTlsFails({ url: `https://${lan}`, reason: texts.reasonPortNotOpen() }),
      texts.testDeviceRejected({ address: phoneAddress }),
    ]);
  });
});

describe('signed-in browsers', () => {
  const list = async (): Promise<SignedInDevice[]> =>
    (await api<{ sessions: SignedInDevice[] }>(home.host.url('control'), '/api/gateway/sessions')).sessions;

  it('lists sessions and ends them with their connections', async () => {
    expect(await list()).toEqual([]);
    const cookie = await home.signIn('https://lamp.nas.local', admin.name, admin.password);
    const other = await home.signIn('https://lamp.nas.local', admin.name, admin.password);
    const [second, first] = await list();
    expect(first).toMatchObject({ account: admin.name, host: `lamp.nas.local:${home.port}`, address: phoneAddress });
    const openRequest = home.open('https://lamp.nas.local/', { headers: { Cookie: cookie } }).end();
    openRequest.on('error', () => undefined);
    const [answer] = (await once(openRequest, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).resume();
    const ended = new Promise((resolve) => void answer.once('close', resolve));
    await api(home.host.url('control'), `/api/gateway/sessions/${first?.id ?? ''}`, { method: 'DELETE' });
    await ended;
    expect((await home.ask('https://lamp.nas.local/', { headers: { Cookie: cookie } })).status).toBe(401);
    expect((await list()).map(({ id }) => id)).toEqual([second?.id]);
    // The other browser signs out itself.
    const origin = `https://lamp.nas.local:${home.port}`;
    await home.ask('https://lamp.nas.local/.homeport/sign-out', {
      method: 'POST',
      headers: { Cookie: other, Origin: origin },
    });
    expect(await list()).toEqual([]);
    const response = api(home.host.url('control'), '/api/gateway/sessions/none', { method: 'DELETE' });
    await expect(response).rejects.toThrow('gateway.unknown_session');
  });
});
