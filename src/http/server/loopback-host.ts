/** Whether a host, as the header `Host` names it, is the machine that its client runs on. */

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
