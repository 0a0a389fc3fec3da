import { gatewayChanged } from '../contracts/gateway/api.ts';
import { liveTopic } from '../contracts/control/live.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** Shares services with the home network over TLS. */
export const manifest = defineManifest({
  id: 'gateway',
  title: 'Network',
  group: 'system',
  summary:
    'Lets phones, TVs and laptops of the home network reach the services you share, encrypted and with one sign-in.',
  capabilities: ['dispatch'],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'name', 'announce', 'ownPorts', 'portNetworks'],
  settingGroups: {
    'Shared services': ['shared', 'open', 'sharedPorts', 'outside', 'outsideUnverified', 'outsideHosts', 'publicPaths'],
    'Addresses and ports': [
      'httpsPort',
      'httpPort',
      'mdnsPort',
      'addresses',
      'networks',
      'proxySignIn',
      'strictTransport',
    ],
    'Custom certificate': ['certFile', 'keyFile'],
    'Identity provider': [
      'oidcIssuer',
      'oidcVerify',
      'oidcName',
      'oidcClientId',
      'oidcClientSecret',
      'oidcScopes',
      'oidcSubjects',
      'oidcGroups',
      'oidcGroupsClaim',
      'oidcAccountClaim',
      'oidcAccounts',
    ],
  },
  keys: { table: 'certificates', column: 'kind' },
  migrations,
  live: [liveTopic(gatewayChanged, 'admin')],
});
