import { expect, it } from 'vitest';
import type { Context } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome } from '../../support/gateway/phone.ts';

it('reports network and engine ports as addresses of this host', async () => {
  let context: Context | undefined;
  const lamp = fixtureService('lamp', (createContext) => {
    context = createContext;
    return {};
  });
  await using home = await openHome({ services: [lamp, control, gateway], settings: { shared: ['lamp'] } });
  const { trustUrl } = await home.state();
  const listAddresses = (): readonly string[] => context?.addresses() ?? [];
  const ports = [
    `https://${lan}:${home.port}`,
    new URL(trustUrl ?? '').origin,
    `https://${lan}:${home.host.port('lamp')}`,
  ];
  expect(listAddresses()).toEqual(expect.arrayContaining([home.host.url('lamp'), home.host.url('control'), ...ports]));
  const child = await context?.children.start({
    ...{ name: 'engine', file: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] },
  });
  if (child !== undefined) context?.children.registerAddress(child, 'http://127.0.0.1:5573');
  expect(listAddresses()).toContain('http://127.0.0.1:5573');
  await child?.stop();
  await expect.poll(listAddresses).not.toContain('http://127.0.0.1:5573');
  await home.change({ shared: [] });
  await expect.poll(listAddresses).not.toContain(ports[0]);
});
