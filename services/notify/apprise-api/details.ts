import { kinds } from '../destinations/catalogue.ts';
import { commonArguments } from '../destinations/options.ts';
import type { LibraryService } from '../apprise/catalogue.ts';
import { escapeHtml } from '../../kit/escape-html.ts';

/** Returns the program that delivers to a service. The library may lack packages for some services. */
function getProvider({ enabled, packages }: LibraryService, ready: boolean): string {
  if (!ready) return 'apprise (not installed)';
  if (enabled) return 'apprise';
  return packages.length === 0 ? 'apprise (not on this machine)' : `apprise (needs ${packages.join(', ')})`;
}

const nativeServices = kinds.map((kind) => ({
  service_name: kind.service,
  service_url: null,
  setup_url: null,
  protocols: kind.protocols,
  secure_protocols: kind.secureProtocols,
  attachment_support: kind.files === true,
  category: 'native',
  served_by: 'homeport',
  details: {
    templates: kind.templates,
    tokens: {
      schema: { name: 'Schema', type: 'choice:string', values: [...kind.protocols, ...kind.secureProtocols] },
    },
    args: Object.fromEntries([...kind.args, ...commonArguments].map((name) => [name, { name, required: false }])),
    kwargs: {},
  },
}));

/**
 * Builds the catalogue in the format of Apprise API. The additional field `served_by` shows whether a service is
 * native or needs the engine.
 */
export function describeServices(services: readonly LibraryService[], ready: boolean) {
  const libraryServices = services.map(({ enabled, packages, ...service }) => ({
    ...service,
    served_by: getProvider({ ...service, enabled, packages }, ready),
  }));
  return {
    version: '1.13.0',
    schemas: [...nativeServices, ...libraryServices],
    asset: { app_id: 'Homeport', app_desc: 'Homeport Notifications' },
  };
}

/** Renders the catalogue as an HTML page. */
export function servicesPage(services: readonly LibraryService[], ready: boolean): string {
  const { schemas } = describeServices(services, ready);
  const items = schemas.map((service) => {
    const schemes = [...service.protocols, ...service.secure_protocols].map((scheme) => `${scheme}://`).join(', ');
    const providerText = service.served_by === 'homeport' ? '' : `, by ${service.served_by}`;
    return `<li>${escapeHtml(`${service.service_name}: ${schemes}${providerText}`)}</li>`;
  });
  return `<!doctype html><title>Services</title><ul>${items.join('')}</ul>\n`;
}
