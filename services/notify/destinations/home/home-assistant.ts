import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { requiredField, secretField, serverFields, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart, type DestinationUrl } from '../url.ts';

/** Service such as `notify.mobile_app_phone`; tokens contain capitals or two dots. */
const servicePattern = /^[a-z_]+\.[a-z0-9_]+$/;
/** Service without its domain. */
const shortServicePattern = /^[a-z0-9]+(_[a-z0-9]+)+$/;

/** Moves services at the end of the path to the argument `to`, so that the token is the last segment. */
function moveServicesToArgument(url: DestinationUrl): DestinationUrl {
  const path = [...url.path];
  const services = (url.query.get('to') ?? '').split(/[\s,]+/).filter((each) => each !== '');
  while (path.length > 1) {
    const lastSegment = path.at(-1) ?? '';
    if (!servicePattern.test(lastSegment) && !shortServicePattern.test(lastSegment)) break;
    services.unshift(servicePattern.test(lastSegment) ? lastSegment : `notify.${lastSegment}`);
    path.pop();
  }
  const query = new Map(url.query);
  query.delete('to');
  if (services.length > 0) query.set('to', services.join(','));
  const port = url.port ?? (url.scheme === 'hassio' ? 8123 : undefined);
  return withPath({ ...url, query, port }, path);
}

/** `hassio://host[:8123]/[path/]token[/notify.service]`: Home Assistant's notification list, or the named services. */
export const homeAssistantKind = defineScheme({
  service: 'HomeAssistant',
  label: 'hassio',
  protocols: ['hassio'],
  secureProtocols: ['hassios'],
  templates: [
    '{schema}://{host}/{accesstoken}',
    '{schema}://{host}:{port}/{accesstoken}',
    '{schema}://{host}/{fullpath}/{accesstoken}',
  ],
  args: ['to', 'nid'],
  titleLimit: 250,
  bodyLimit: 32_768,
  normalize: moveServicesToArgument,
  form: {
    about: m.homeAssistantAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('token', m.longLivedToken, 'last', m.homeAssistantTokenHelp)),
      textField('services', m.services, 'query:to', m.homeAssistantServicesHelp),
    ],
  },
  open({ url, origin, argument }) {
    const token = url.path.at(-1);
    if (token === undefined) return problems.addressIncomplete({ example: 'hassio://host/token' });
    const base = `${origin}${url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('')}/api/services`;
    const headers = { authorization: `Bearer ${token}` };
    const services = argument('to')?.split(',') ?? [];
    if (!services.every((each) => servicePattern.test(each))) return problems.serviceNameInvalid();
    return async ({ id, title, body }, { request, once }) => {
      if (services.length === 0) {
        // The notification's ID makes a repetition replace the first one.
        const notification = { title, message: body, notification_id: argument('nid') ?? id };
        return request(postJson(`${base}/persistent_notification/create`, notification, headers));
      }
      for (const each of services) {
        const serviceRequest = postJson(`${base}/${each.replace('.', '/')}`, { title, message: body }, headers);
        await once(each, () => request(serviceRequest));
      }
      return undefined;
    };
  },
});
