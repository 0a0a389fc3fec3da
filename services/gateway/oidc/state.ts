import type { GatewayState, SharedService } from '../../contracts/gateway/api.ts';
import type { Provider } from './provider.ts';
import { callbackPath } from './routes.ts';

/** Returns the provider as shown on the page, with the redirect URIs to register. */
export function toProviderState(
  provider: Provider,
  services: readonly SharedService[],
  home: string | undefined,
): GatewayState['provider'] {
  const { name } = provider;
  if (name === undefined) return null;
  const serviceUrls = services
    // The app offers the provider on its own sign-in page.
    .filter(({ id, exposure, authenticates }) =>
      id === 'control' ? exposure !== 'off' : exposure === 'sign-in' && !authenticates,
    )
    .flatMap(({ addresses }) => addresses.map(({ url }) => url));
  const urls = home === undefined ? serviceUrls : [home, ...serviceUrls];
  return { name, redirectAddresses: urls.map((url) => `${url}${callbackPath}`) };
}
