import { page } from '../front/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';

/** How a device comes to trust this machine. `home`: where it goes after. */
export function trustPage({ fingerprint, title, home }: { fingerprint: string; title: string; home: string }): string {
  return page(
    'Trust this machine',
    `<h1>Trust this machine</h1>
<p>The services here speak TLS with a certificate that Homeport made itself. Install its authority once on each device; it can speak for this machine's names and private addresses alone.</p>
<p><a class="button" href="/trust/homeport.crt">Get the certificate</a></p>
<p><a href="/trust/homeport.mobileconfig">As a profile for iPhone, iPad and Mac</a></p>
<h2>Compare before you trust</h2>
<p>Its name is <code>${escapeHtml(title)}</code>. The app shows the same SHA-256 fingerprint on its page “Network”:</p>
<p><code>${escapeHtml(fingerprint)}</code></p>
<h2>iPhone and iPad</h2>
<ol><li>Get the profile and allow it.</li><li>Settings › General › VPN &amp; Device Management: install it.</li><li>Settings › General › About › Certificate Trust Settings: turn it on.</li></ol>
<h2>Android</h2>
<ol><li>Get the certificate.</li><li>Settings › Security › Encryption &amp; credentials › Install a certificate › CA certificate.</li></ol>
<h2>Windows</h2>
<ol><li>Open the certificate, choose Install Certificate.</li><li>Put it into “Trusted Root Certification Authorities”.</li></ol>
<h2>macOS</h2>
<ol><li>Open the certificate in Keychain Access.</li><li>Double-click it and choose Trust › Always Trust.</li></ol>
<h2>Linux</h2>
<ol><li>Save it as <code>/usr/local/share/ca-certificates/homeport.crt</code>.</li><li>Run <code>sudo update-ca-certificates</code>.</li><li>Firefox and Chrome have lists of their own: Settings › Certificates › Import.</li></ol>
<p><a class="button" href="${escapeHtml(home)}">Go on</a></p>`,
  );
}
