import { needed, secretField, serverFields, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart, type DestinationUrl } from '../url.ts';

/** A service such as `notify.mobile_app_phone`; tokens have capitals or two dots. */
const service = /^[a-z_]+\.[a-z0-9_]+$/;
/** The same without its domain. */
const notifier = /^[a-z0-9]+(_[a-z0-9]+)+$/;

/** The services that end the path go to their argument, so that the token is the last part. */
function arrange(url: DestinationUrl): DestinationUrl {
  const path = [...url.path];
  const named = (url.query.get('to') ?? '').split(/[\s,]+/).filter((each) => each !== '');
  while (path.length > 1) {
    const last = path.at(-1) ?? '';
    if (!service.test(last) && !notifier.test(last)) break;
    named.unshift(service.test(last) ? last : `notify.${last}`);
    path.pop();
  }
  const query = new Map(url.query);
  query.delete('to');
  if (named.length > 0) query.set('to', named.join(','));
  const port = url.port ?? (url.scheme === 'hassio' ? 8123 : undefined);
  return withPath({ ...url, query, port }, path);
}

/** `hassio://host[:8123]/[path/]token[/notify.service]`: Home Assistant's own list, or the services that are named. */
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
  arrange,
  form: {
    about: 'Home Assistant: the notifications of its sidebar, or phones and other services.',
    fields: [
      ...serverFields,
      needed(
        secretField(
          'token',
          'Long-lived access token',
          'last',
          'Made on your profile in Home Assistant, under Security.',
        ),
      ),
      textField('services', 'Services', 'query:to', 'Such as notify.mobile_app_phone. Empty: the sidebar.'),
    ],
  },
  open({ url, origin, argument }) {
    const token = url.path.at(-1);
    if (token === undefined) return 'a token is missing: hassio://host/token';
    const base = `${origin}${url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('')}/api/services`;
    const headers = { authorization: `Bearer ${token}` };
    const named = argument('to')?.split(',') ?? [];
    if (!named.every((each) => service.test(each))) return 'a service is written notify.name';
    return async ({ id, title, body }, { ask, once }) => {
      if (named.length === 0) {
        // With the notice's own identity, so that a repetition takes the place of the first.
        const notification = { title, message: body, notification_id: argument('nid') ?? id };
        return ask(postJson(`${base}/persistent_notification/create`, notification, headers));
      }
      for (const each of named) {
        const call = postJson(`${base}/${each.replace('.', '/')}`, { title, message: body }, headers);
        await once(each, () => ask(call));
      }
      return undefined;
    };
  },
});
