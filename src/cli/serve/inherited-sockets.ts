/**
 * Sockets that whoever started this process opened for it, as systemd does: sd_listen_fds(3). Those
 * of another process (the variables are inherited) are none.
 */
import { INHERITED_SOCKETS_LIMIT } from '../limits.ts';
import { UsageError } from '../command.ts';

interface InheritedSocket {
  readonly fileDescriptor: number;
  /** `FileDescriptorName=` of its unit; empty where it is not told. */
  readonly name: string;
}

const FIRST_DESCRIPTOR = 3;

/** Empty where there are none. @throws UsageError */
export function listInheritedSockets(
  environment: Readonly<NodeJS.ProcessEnv>, processId: number,
): readonly InheritedSocket[] {
  const count = environment['LISTEN_FDS'];
  if (count === undefined || environment['LISTEN_PID'] !== String(processId)) return [];
  const length = /^\d{1,3}$/.test(count) ? Number(count) : NaN;
  if (!(length <= INHERITED_SOCKETS_LIMIT)) {
    throw new UsageError(`LISTEN_FDS is a whole number up to ${INHERITED_SOCKETS_LIMIT}.`);
  }
  const names = environment['LISTEN_FDNAMES']?.split(':') ?? [];
  return Array.from({ length }, (_, index) => (
    { fileDescriptor: FIRST_DESCRIPTOR + index, name: names[index] ?? '' }
  ));
}
