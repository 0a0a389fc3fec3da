import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { requiredField, passwordField, serverFields, textField, userField } from '../fields.ts';
import { basicAuthorization, postForm, postJson } from '../http.ts';
import { appTitle } from '../colors.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme, type Address } from '../scheme.ts';
import { encodePart } from '../url.ts';

const accountFields = [
  requiredField({ ...userField, help: m.nextcloudUserHelp }),
  requiredField({ ...passwordField, help: m.nextcloudPasswordHelp }),
];
const folderField = textField('folder', m.folder, 'query:url_prefix', m.nextcloudFolderHelp);

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
    about: m.nextcloudTalkAbout,
    fields: [
      ...serverFields,
      ...accountFields,
      requiredField(textField('rooms', m.conversations, 'targets', m.conversationsHelp)),
      folderField,
    ],
  },
  open(address) {
    const [room] = address.targets;
    if (room === undefined) return problems.addressIncomplete({ example: 'nctalk://user:password@host/room' });
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
    about: m.nextcloudAbout,
    fields: [
      ...serverFields,
      ...accountFields,
      requiredField(textField('people', m.people, 'targets', m.nextcloudUsersHelp)),
      folderField,
    ],
  },
  open(address) {
    const [target] = address.targets;
    if (target === undefined) return problems.addressIncomplete({ example: 'ncloud://admin:password@host/user' });
    if (target.startsWith('#')) return problems.groupsUnsupported();
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
