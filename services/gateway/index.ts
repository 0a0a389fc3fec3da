import * as m from '#messages/gateway-texts';
import { implement } from '../contracts/api.ts';
import { accountsChanged } from '../contracts/control/accounts.ts';
import { serviceStatusChanged } from '../contracts/control/service-status.ts';
import type { DispatchContext } from '../contracts/dispatch.ts';
import { certificateApi } from '../contracts/gateway/certificate-api.ts';
import { gatewayApi } from '../contracts/gateway/api.ts';
import { defineService, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { runInEnglish } from '../kit/language.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import { Network } from './network.ts';
import { createGatewayAccountData } from './store/account-data.ts';
import { moveSecondFactors } from './store/second-factors.ts';
import type { Settings } from './settings.ts';

/** Shares services with the home network over TLS. */
export const gateway = defineService<typeof Settings, DispatchContext>({ ...manifest, create });

function create(context: DispatchContext, initialSettings: Settings): Service {
  const open = new AsyncDisposableStack();
  let network: Network | undefined;
  const settings = createLiveSettings(initialSettings);

  return {
    api: [
      implement(gatewayApi.state, () => getNetwork().state()),
      implement(gatewayApi.addresses, async () => {
        // The reply has none of the texts of the state.
        const { trustUrl, services, ports } = await runInEnglish(() => getNetwork().state());
        const reachableServices = services.flatMap(({ id, addresses: [best], exposure, authenticates }) =>
          best === undefined ? [] : [{ id, url: best.url, asksFirst: exposure === 'sign-in' && !authenticates }],
        );
        const open = ports.flatMap(({ id, addresses: [url] }) => (url === undefined ? [] : [{ id, url }]));
        return { trustUrl, services: reachableServices, ports: open };
      }),
      implement(gatewayApi.test, () => getNetwork().test()),
      implement(gatewayApi.signedIn, async () => ({ sessions: await getNetwork().signedIn.list() })),
      implement(certificateApi.state, () => Promise.resolve(getNetwork().publicCertificates.state())),
      implement(certificateApi.retry, async () => {
        const { publicCertificates } = getNetwork();
        await publicCertificates.retry();
        return publicCertificates.state();
      }),
      implement(gatewayApi.signOut, async ({ params }) => {
        await getNetwork().signedIn.end(params['id'] ?? '');
        return {};
      }),
    ],

    async start() {
      await moveSecondFactors(context);
      network = new Network(context, settings.current);
      await network.renew();
      await network.publicCertificates.start();
      const renew = (): void => void network?.renew();
      open.use(context.bus.subscribe(serviceStatusChanged, renew));
      open.use(context.bus.subscribe(accountsChanged, () => network?.endRevoked()));
      open.use(context.clock.every(10_000, renew));
    },

    accountData: createGatewayAccountData(context),

    reconfigure: (next) =>
      settings.update(next, async () => {
        await network?.renew();
        await network?.publicCertificates.check();
      }),

    health: () => Promise.resolve(getHealth(getNetwork())),

    async [Symbol.asyncDispose]() {
      await open.disposeAsync();
      await network?.[Symbol.asyncDispose]();
    },
  };

  function getNetwork(): Network {
    network ??= new Network(context, settings.current);
    return network;
  }
}

function getHealth(network: Network): Health {
  const { remedy, shared, hasProblems } = network;
  if (hasProblems) {
    const detail = (): string => network.listProblems().join(' ');
    return { state: 'degraded', detail, ...(remedy === undefined ? {} : { remedy }) };
  }
  if (shared.length === 0) return { state: 'up', detail: m.healthNothingShared };
  return { state: 'up', detail: () => m.healthShared({ count: shared.length }) };
}
