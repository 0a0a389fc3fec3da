import { requiredField, passwordField, serverFields, textField, userField } from '../fields.ts';
import { basicAuthorization, postForm, postJson } from '../http.ts';
import { appTitle } from '../colors.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme, type Address } from '../scheme.ts';
import { encodePart } from '../url.ts';

const accountFields = [
  requiredField({ ...userField, help: 'An account for this app.' }),
  requiredField({ ...passwordField, help: 'One made for apps, under Security.' }),
];
const folderField = textField(
  'folder',
  'Folder',
  'query:url_prefix',
  'Where Nextcloud is not at the root, such as /nextcloud.',
);

/** Builds the base URL and the headers of a request to the OCS API, which requires its own header. */
function buildOcsRequest({ url, origin, argument }: Address) {
  const folder = (argument('url_prefix') ?? '').split('/').filter((each) => each !== '');
  const authorization = basicAuthorization(url);
  return {
    base: `${origin}${folder.map((each) => `/${encodePart(each)}`).join('')}/ocs/v2.php/apps`,
    headers: { 'ocs-apirequest': 'true', ...(authorization === undefined ? {} : { authorization }) },
  };
}

/** `nctalk://user:password@host/room`: conversations of Nextcloud Talk. */
export const nextcloudTalkKind = defineScheme({
  service: 'Nextcloud Talk',
  label: 'nctalk',
  protocols: ['nctalk'],
  secureProtocols: ['nctalks'],
  templates: ['{schema}://{user}:{password}@{host}/{targets}', '{schema}://{user}:{password}@{host}:{port}/{targets}'],
  args: ['url_prefix'],
  titleLimit: 0,
  bodyLimit: 4000,
  overflow: 'split',
  perTarget: true,
  form: {
    about: 'Conversations of Nextcloud Talk.',
    fields: [
      ...serverFields,
      ...accountFields,
      requiredField(textField('rooms', 'Conversations', 'targets', 'The last part of their address, after /call/.')),
      folderField,
    ],
  },
  open(address) {
    const [room] = address.targets;
    if (room === undefined) return 'a room is missing: nctalk://user:password@host/room';
    const { base, headers } = buildOcsRequest(address);
    return ({ body }, { request }) =>
      request(postJson(`${base}/spreed/api/v1/chat/${encodePart(room)}`, { message: body }, headers));
  },
});

/** `ncloud://admin:password@host/user`: notifications for accounts; the sender must be an administrator. */
export const nextcloudKind = defineScheme({
  service: 'Nextcloud',
  label: 'ncloud',
  protocols: ['ncloud'],
  secureProtocols: ['nclouds'],
  templates: ['{schema}://{user}:{password}@{host}/{targets}', '{schema}://{user}:{password}@{host}:{port}/{targets}'],
  args: ['version', 'url_prefix'],
  titleLimit: 255,
  bodyLimit: 4000,
  perTarget: true,
  normalize: (url) =>
    withPath(
      url,
      url.path.map((name) => (/^[@#]/.test(name) ? name : `@${name}`)),
    ),
  form: {
    about: 'The notifications of people on a Nextcloud server. The account has to be an administrator’s.',
    fields: [
      ...serverFields,
      ...accountFields,
      requiredField(textField('people', 'People', 'targets', 'Names of accounts, commas between several.')),
      folderField,
    ],
  },
  open(address) {
    const [target] = address.targets;
    if (target === undefined) return 'a name is missing: ncloud://admin:password@host/user';
    if (target.startsWith('#')) return 'groups are not served: name the people';
    const { base, headers } = buildOcsRequest(address);
    // Nextcloud 21 introduced another app for notifications.
    const usesOldApi = Number(address.argument('version') ?? 21) < 21;
    const path = usesOldApi ? 'admin_notifications/api/v1/notifications' : 'notifications/api/v2/admin_notifications';
    return ({ title, body }, { request }) => {
      const formFields = { shortMessage: title === '' ? appTitle : title, longMessage: body };
      return request(postForm(`${base}/${path}/${encodePart(target.replace(/^@/, ''))}`, formFields, headers));
    };
  },
});
