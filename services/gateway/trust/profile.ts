import * as m from '#messages/gateway-texts';
import { createHash } from 'node:crypto';
import { escapeHtml } from '../../kit/escape-html.ts';

/** Builds a configuration profile for Apple systems; deterministic for a certificate and language. */
export function buildProfile(certificate: Buffer, title: string): string {
  const buildId = (purpose: string): string =>
    toUuid(createHash('sha256').update(purpose).update(certificate).digest());
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
<key>PayloadContent</key>
<array>
<dict>
<key>PayloadCertificateFileName</key><string>homeport.crt</string>
<key>PayloadContent</key><data>${certificate.toString('base64')}</data>
<key>PayloadDisplayName</key><string>${escapeHtml(title)}</string>
<key>PayloadIdentifier</key><string>homeport.authority.${buildId('certificate')}</string>
<key>PayloadType</key><string>com.apple.security.root</string>
<key>PayloadUUID</key><string>${buildId('certificate')}</string>
<key>PayloadVersion</key><integer>1</integer>
</dict>
</array>
<key>PayloadDisplayName</key><string>${escapeHtml(title)}</string>
<key>PayloadDescription</key><string>${escapeHtml(m.profileDescription())}</string>
<key>PayloadIdentifier</key><string>homeport.profile.${buildId('profile')}</string>
<key>PayloadType</key><string>Configuration</string>
<key>PayloadUUID</key><string>${buildId('profile')}</string>
<key>PayloadVersion</key><integer>1</integer>
</dict>
</plist>
`;
}

function toUuid(hash: Buffer): string {
  const hex = hash.toString('hex').toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `A${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
