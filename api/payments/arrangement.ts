import type { Gateway } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';

/** Refuses fixed amounts to a platform-billed gateway, whose fees the platform covers (contract 1, 2.1). @throws forbidden */
export function assertFixedAmounts({ billing }: Pick<Gateway, 'billing'>): void {
  if (billing === 'PLATFORM') throw new ServiceError('forbidden', { message: 'This gateway creates open-amount payments only.' });
}

/** Refuses open amounts to a gateway that is not provisioned for them (contract 4.1). @throws forbidden */
export function assertOpenAmounts({ settings }: Pick<Gateway, 'settings'>): void {
  if (!settings.openAmount.enabled) throw new ServiceError('forbidden', { message: 'This gateway is not provisioned for open-amount payments.' });
}
