import * as m from '#messages/gateway-settings';
import * as texts from '#messages/manifests';
import { gatewayChanged } from '../contracts/gateway/api.ts';
import { liveTopic } from '../contracts/control/live.ts';
import { defineManifest } from '../contracts/service.ts';
import { acmeFields } from './acme/fields.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** Shares services with the home network over TLS. */
export const manifest = defineManifest({
  id: 'gateway',
  title: texts.gatewayTitle,
  group: 'system',
  summary: texts.gatewaySummary,
  capabilities: ['dispatch'],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'name', 'announce', 'ownPorts', 'portNetworks'],
  settingGroups: [
    {
      heading: m.groupSharedServices,
      settings: ['shared', 'open', 'sharedPorts', 'outside', 'outsideUnverified', 'outsideHosts', 'publicPaths'],
    },
    {
      heading: m.groupAddressesAndPorts,
      settings: ['httpsPort', 'httpPort', 'mdnsPort', 'addresses', 'networks', 'proxySignIn', 'strictTransport'],
    },
    { heading: m.groupPublicCertificate, settings: Object.keys(acmeFields) },
    { heading: m.groupCustomCertificate, settings: ['certFile', 'keyFile'] },
    {
      heading: m.groupIdentityProvider,
      settings: [
        'oidcIssuer',
        'oidcVerify',
        'oidcName',
        'oidcClientId',
        'oidcClientSecret',
        'oidcScopes',
        'oidcSubjects',
        'oidcGroups',
        'oidcEmailDomains',
        'oidcCreateAccounts',
        'oidcAdminGroups',
        'oidcGroupGrants',
        'oidcGroupsClaim',
        'oidcAccountClaim',
        'oidcAccounts',
      ],
    },
  ],
  keys: { table: 'certificates', column: 'kind' },
  migrations,
  live: [liveTopic(gatewayChanged, 'user')],
});
