import { expect, it } from 'vitest';
import { findFailureCode } from '../../../services/downloads/domain/engine-messages.ts';

it.each([
  ['ERROR: Unsupported URL: https://example.com/account/private-video', 'no_video'],
  ['ERROR: [generic] members-only-clip: Unable to download webpage: HTTP Error 404: Not Found', 'not_found'],
  ["ERROR: [generic] Unable to download webpage: Failed to resolve 'login.example.com' ([Errno -2] …)", 'unreachable'],
  ['ERROR: [youtube] age-drm-1234: Video unavailable', 'unavailable'],
  ['ERROR: [vimeo] 12: This video is private. Use --cookies to log in', 'sign_in_required'],
])('ignores addresses, ids and names in the message: %s', (message, code) => {
  expect(findFailureCode(message)).toBe(code);
});
