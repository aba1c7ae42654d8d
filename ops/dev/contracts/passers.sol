// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Contracts that pass native coins on, honestly and otherwise; for tests of what a payment through a contract is.

/// Sends coins on in every way there is.
contract Passer {
    receive() external payable {}

    function send(address payable to, uint256 value) public payable {
        (bool ok, ) = to.call{value: value}("");
        require(ok, "call failed");
    }

    /// Everything that came with the call.
    function forward(address payable to) public payable {
        send(to, msg.value);
    }

    /// Two payments in one transaction, as exchanges pay out in batches.
    function batch(address payable first, uint256 one, address payable second, uint256 two) external payable {
        send(first, one);
        send(second, two);
    }

    /// Takes part in the payment and then fails, all of it.
    function forwardAndFail(address payable to) public payable {
        forward(to);
        revert("on purpose");
    }

    /// The payment happens inside a call that fails afterwards; the transaction itself succeeds.
    function tryAndFail(address payable to) public payable {
        try this.forwardAndFail{value: msg.value}(to) {} catch {}
    }

    /// First in vain, then for real.
    function tryThenSend(address payable to, uint256 value) external payable {
        tryAndFail(to);
        send(to, value);
    }

    /// The deepest payment succeeds, two calls above it one fails.
    function failAbove(address payable to, Passer through) external payable {
        try this.forwardThroughAndFail{value: msg.value}(to, through) {} catch {}
    }

    function forwardThroughAndFail(address payable to, Passer through) external payable {
        through.forward{value: msg.value}(to);
        revert("on purpose");
    }

    /// A call that cannot be paid for, work for a precompiled contract, a call without coins and one to itself: none of them moves anything.
    function fuss(address payable to, uint256 value) external payable {
        (bool paid, ) = to.call{value: address(this).balance + 1}("");
        require(!paid, "paid with nothing");
        require(sha256("work") != 0, "no work");
        (bool called, ) = to.call("");
        require(called, "not called");
        this.keep{value: value}();
        send(to, value);
    }

    function keep() external payable {}

    /// A contract that exists only to die in favour of somebody.
    function dieFor(address payable to) external payable {
        new Legacy{value: msg.value}(to);
    }

    /// Coins for an address that becomes a contract with them.
    function createWith(bytes32 salt) external payable {
        new Nothing{value: msg.value, salt: salt}();
    }
}

contract Legacy {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

contract Nothing {
    constructor() payable {}
}

/// A smart wallet: its code is elsewhere, its coins are here.
contract Wallet {
    address immutable code;

    constructor(address code_) payable {
        code = code_;
    }

    receive() external payable {}

    fallback() external payable {
        (bool ok, ) = code.delegatecall(msg.data);
        require(ok, "failed");
    }
}
