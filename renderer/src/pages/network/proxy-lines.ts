/** A proxy in front of what is none of Homeport's, and the lines that let it ask the gateway who is signed in. */
export interface AskingProxy {
  readonly id: string;
  readonly name: string;
  readonly lines: string;
}

/**
 * The proxies whose lines were tried with the programs themselves. `home`: the gateway's address, such as
 * `https://nas.local:8443`. Both hand `/.homeport/` on, so that the sign-in's cookie is of the host that the browser sees.
 */
export function askingProxies(home: string): readonly AskingProxy[] {
  return [
    {
      id: 'caddy',
      name: 'Caddy',
      lines: `handle /.homeport/* {
  reverse_proxy ${home}
}
handle {
  forward_auth ${home} {
    uri /.homeport/verify
    copy_headers Remote-User
  }
  reverse_proxy 192.168.1.5:2342
}`,
    },
    {
      id: 'nginx',
      name: 'nginx',
      lines: `location /.homeport/ {
  proxy_pass ${home};
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
}
location / {
  auth_request /.homeport/verify;
  auth_request_set $account $upstream_http_remote_user;
  error_page 401 = @sign_in;
  proxy_set_header Remote-User $account;
  proxy_pass http://192.168.1.5:2342;
}
location @sign_in {
  return 302 /.homeport/sign-in?to=$request_uri;
}`,
    },
  ];
}
