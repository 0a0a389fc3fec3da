import type { ProviderResponse, ReceivedRequest } from './provider-server.ts';

/** Recorded responses of the providers by a part of the address. */
const responses: readonly (readonly [part: string, body: unknown])[] = [
  ['files.getUploadURLExternal', { ok: true, upload_url: 'https://files.slack.com/upload/v1/x', file_id: 'F1' }],
  ['slack.com/api', { ok: true, channel: 'C123' }],
  ['api.telegram.org', { ok: true, result: {} }],
  ['/api/v1/login', { status: 'success', data: { authToken: 'AT', userId: 'UID' } }],
  ['_matrix/client/v3/login', { access_token: 'tok_abc', home_server: 'hs', user_id: '@user:hs' }],
  ['_matrix/client/v3/join', { room_id: '!room:127.0.0.1' }],
  ['pushplus.plus', { code: 200 }],
  ['/api/v1/media', { id: '22' }],
  ['_matrix/media', { content_uri: 'mxc://127.0.0.1/abc' }],
  [
    'pushbullet.com/v2/upload-request',
    {
      ...{ file_name: 'a.png', file_type: 'image/png', file_url: 'https://dl/x' },
      upload_url: 'https://upload.pushbullet.com/abc',
    },
  ],
];

/** Returns the response of the provider that a request addresses. */
export function answers({ url }: ReceivedRequest): ProviderResponse {
  return { body: responses.find(([part]) => url.includes(part))?.[1] ?? {} };
}
